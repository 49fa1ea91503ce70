import { accessPolicy } from '../../records/access-policy.ts';
import { auditEvent } from '../../records/audit-event.ts';
import { client } from '../../records/client.ts';
import { grant } from '../../records/grant.ts';
import { group } from '../../records/group.ts';
import { session } from '../../records/session.ts';
import { collectionOf, routesOf } from './collection.ts';
import type { CollectionRoute } from './collection.ts';
import type { ResourceKind } from './resource-exchange.ts';
import { userCollection } from './user-collection.ts';

/** Every route of the generic resource API. `DELETE /Session`, which closes the caller's own, is not one of them. */
export const resourceRoutes: readonly CollectionRoute<ResourceKind>[] = [
  ...routesOf(collectionOf(client)),
  ...routesOf(collectionOf(accessPolicy)),
  ...routesOf(collectionOf(session)),
  ...routesOf(collectionOf(group)),
  ...routesOf(collectionOf(grant)),
  ...routesOf(collectionOf(auditEvent)),
];

/** Every route of the users API. */
export const userRoutes: readonly CollectionRoute<'User'>[] = routesOf(userCollection);
