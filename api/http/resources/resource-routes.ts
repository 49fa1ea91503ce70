import { accessPolicy } from '../../records/access-policy.ts';
import { auditEvent } from '../../records/audit-event.ts';
import { client } from '../../records/client.ts';
import { grant } from '../../records/grant.ts';
import { group } from '../../records/group.ts';
import { session } from '../../records/session.ts';
import { user } from '../../records/user.ts';
import { routesOf } from './collection.ts';
import type { CollectionRoute } from './collection.ts';
import type { ResourceKind } from './resource-exchange.ts';

/** Every route of the generic resource API. `DELETE /Session`, which closes the caller's own, is not one of them. */
export const resourceRoutes: readonly CollectionRoute<ResourceKind>[] = [
  ...routesOf(client),
  ...routesOf(accessPolicy),
  ...routesOf(session),
  ...routesOf(group),
  ...routesOf(grant),
  ...routesOf(auditEvent),
];

/** Every route of the users API. */
export const userRoutes: readonly CollectionRoute<'User'>[] = routesOf(user);
