import { auditCollection } from './audit-collection.ts';
import { clientCollection } from './client-collection.ts';
import { routesOf } from './collection.ts';
import type { CollectionRoute } from './collection.ts';
import { grantCollection } from './grant-collection.ts';
import { groupCollection } from './group-collection.ts';
import type { ResourceKind } from './resource-exchange.ts';
import { sessionCollection } from './session-collection.ts';
import { storedCollection } from './stored-collection.ts';
import { userCollection } from './user-collection.ts';

/** Every route of the generic resource API. `DELETE /Session`, which closes the caller's own, is not one of them. */
export const resourceRoutes: readonly CollectionRoute<ResourceKind>[] = [
  ...routesOf(clientCollection),
  ...routesOf(storedCollection('AccessPolicy')),
  ...routesOf(sessionCollection),
  ...routesOf(groupCollection),
  ...routesOf(grantCollection),
  ...routesOf(auditCollection),
];

/** Every route of the users API. */
export const userRoutes: readonly CollectionRoute<'User'>[] = routesOf(userCollection);
