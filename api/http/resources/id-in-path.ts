import { RESOURCE_ID } from '../../../crds/fields.ts';
import { grantId } from '../../users/grant-view.ts';
import { groupId } from '../../users/group-search.ts';
import { sessionId } from '../../resources/session-search.ts';
import type { ResourceExchange, ResourceKind } from './resource-exchange.ts';

/** The id of a request whose path has one, whatever it looks like; throws a TypeError for a route that was made without. */
export function idIn({ id }: ResourceExchange): string {
  if (id === undefined) throw new TypeError('a route of one resource without its id');
  return id;
}

const forms = {
  Client: new RegExp(RESOURCE_ID),
  AccessPolicy: new RegExp(RESOURCE_ID),
  Session: sessionId,
  Group: groupId,
  Grant: grantId,
} as const satisfies Record<ResourceKind, RegExp>;

/** The id of a request, undefined when nothing of the kind can have it: no statement is needed to know. */
export function possibleIdIn(exchange: ResourceExchange, kind: ResourceKind): string | undefined {
  return possibleId(kind, idIn(exchange));
}

/** Returns an id that something of the kind can have; undefined for any other text. */
export function possibleId(kind: ResourceKind, id: string | undefined): string | undefined {
  return id !== undefined && forms[kind].test(id) ? id : undefined;
}
