import { deleteGrantHandler, getGrantHandler, searchGrantsHandler } from './grant-handlers.ts';
import {
  deleteGroupHandler,
  getGroupHandler,
  patchGroupHandler,
  postGroupHandler,
  putGroupHandler,
  searchGroupsHandler,
} from './group-handlers.ts';
import type { ResourceHandler, ResourceKind } from './resource-exchange.ts';
import {
  getSessionHandler,
  patchSessionHandler,
  putSessionHandler,
  revokeSessionHandler,
  searchSessionsHandler,
} from './session-handlers.ts';
import { deleteHandler, getHandler, patchHandler, postHandler, putHandler, searchHandler } from './stored-handlers.ts';

/** One route of the generic resource API; a path with `:id` addresses one resource. */
export interface ResourceRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: `/${ResourceKind}` | `/${ResourceKind}/:id`;
  readonly kind: ResourceKind;
  readonly handler: ResourceHandler;
}

/** Every route of the generic resource API. `DELETE /Session`, which closes the caller's own, is not one of them. */
export const resourceRoutes: readonly ResourceRoute[] = [
  ...storedRoutes('Client'),
  ...storedRoutes('AccessPolicy'),
  { method: 'GET', path: '/Session', kind: 'Session', handler: searchSessionsHandler },
  { method: 'GET', path: '/Session/:id', kind: 'Session', handler: getSessionHandler },
  { method: 'PUT', path: '/Session/:id', kind: 'Session', handler: putSessionHandler },
  { method: 'PATCH', path: '/Session/:id', kind: 'Session', handler: patchSessionHandler },
  { method: 'DELETE', path: '/Session/:id', kind: 'Session', handler: revokeSessionHandler },
  { method: 'GET', path: '/Group', kind: 'Group', handler: searchGroupsHandler },
  { method: 'POST', path: '/Group', kind: 'Group', handler: postGroupHandler },
  { method: 'GET', path: '/Group/:id', kind: 'Group', handler: getGroupHandler },
  { method: 'PUT', path: '/Group/:id', kind: 'Group', handler: putGroupHandler },
  { method: 'PATCH', path: '/Group/:id', kind: 'Group', handler: patchGroupHandler },
  { method: 'DELETE', path: '/Group/:id', kind: 'Group', handler: deleteGroupHandler },
  { method: 'GET', path: '/Grant', kind: 'Grant', handler: searchGrantsHandler },
  { method: 'GET', path: '/Grant/:id', kind: 'Grant', handler: getGrantHandler },
  { method: 'DELETE', path: '/Grant/:id', kind: 'Grant', handler: deleteGrantHandler },
];

function storedRoutes(kind: 'Client' | 'AccessPolicy'): readonly ResourceRoute[] {
  return [
    { method: 'GET', path: `/${kind}`, kind, handler: searchHandler(kind) },
    { method: 'POST', path: `/${kind}`, kind, handler: postHandler(kind) },
    { method: 'GET', path: `/${kind}/:id`, kind, handler: getHandler(kind) },
    { method: 'PUT', path: `/${kind}/:id`, kind, handler: putHandler(kind) },
    { method: 'PATCH', path: `/${kind}/:id`, kind, handler: patchHandler(kind) },
    { method: 'DELETE', path: `/${kind}/:id`, kind, handler: deleteHandler(kind) },
  ];
}
