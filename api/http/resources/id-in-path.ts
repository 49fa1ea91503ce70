import { NUMBERED_ID, RESOURCE_ID } from '../../../crds/fields.ts';
import { grantId } from '../../records/grant.ts';
import { uuidShape } from '../../db/core/uuid-v7.ts';
import type { AddressedType, ResourceExchange } from './resource-exchange.ts';

/** Returns the id in the path of a request, in any form; throws a TypeError for a route without one. */
export function idIn({ id }: ResourceExchange): string {
  if (id === undefined) throw new TypeError('a route of one resource without its id');
  return id;
}

const forms = {
  Client: new RegExp(RESOURCE_ID),
  AccessPolicy: new RegExp(RESOURCE_ID),
  Session: uuidShape,
  Group: new RegExp(NUMBERED_ID),
  Grant: grantId,
  AuditEvent: uuidShape,
  User: new RegExp(NUMBERED_ID),
  Box: new RegExp(RESOURCE_ID),
} as const satisfies Record<AddressedType, RegExp>;

/** Returns an id that a resource of the kind can have; undefined for any other text. */
export function possibleId(kind: AddressedType, id: string | undefined): string | undefined {
  return id !== undefined && forms[kind].test(id) ? id : undefined;
}
