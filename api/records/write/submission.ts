import { isObject } from '../../../crds/path.ts';
import type { AccessPolicy } from '../../../crds/access-policy.ts';
import type { Client } from '../../../crds/client.ts';
import type { Fault } from '../../../crds/fault.ts';
import { MOMENT } from '../../../crds/fields.ts';
import { keyFaults } from '../../../crds/public-keys.ts';
import { sizeFaults } from '../../../crds/resource-size.ts';
import { RESERVED_ID_MESSAGE, isReservedId } from '../../../crds/reserved-ids.ts';
import { checkResource } from '../../../crds/validate.ts';
import { CompiledPolicy } from '../../policy/compile.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { Problem } from '../../problem.ts';
import type { StoredKind } from '../services.ts';
import { PREVIOUS_UNTIL, readOnlyFaults, schemaPart } from './stored-view.ts';

/** A submitted resource that may be stored, its secret apart. */
export interface Submission {
  readonly kind: StoredKind;
  readonly id: string;
  readonly resource: Client | AccessPolicy;
  /** The resource without its secret, as it is stored and returned. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Absent: the stored one is kept; null: it is removed. */
  readonly secret: string | null | undefined;
  /** Milliseconds since 1970. Absent: the previous secret stays, unless there is a new one; null: it ends. */
  readonly previousUntil: number | null | undefined;
}

/** Path of a submission: the kind, and the id if the path names one. */
export interface SubmissionPath {
  readonly kind: StoredKind;
  readonly id?: string;
}

/**
 * Validates a resource submitted over REST in place of `present`, if there is one. `now` in milliseconds. Throws
 * Problem `invalid` with every fault.
 */
export function readSubmission(
  { kind, id }: SubmissionPath,
  value: unknown,
  now: number,
  present?: StoredResource,
): Submission {
  const settable = schemaPart(kind, value);
  const given = isObject(settable) && id !== undefined ? { ...settable, id } : settable;
  const checked = checkResource(kind, given);
  const until = kind === 'Client' && isObject(value) ? value[PREVIOUS_UNTIL] : undefined;
  const moment = typeof until === 'string' && aMoment.test(until) ? Date.parse(until) : undefined;
  const wrong = moment === undefined && until !== undefined && until !== null ? [noMoment] : [];
  const own = checked.ok ? faultsOf(checked.resource, now) : checked.faults;
  const faults = [...foreignId(value, id), ...own, ...wrong, ...readOnlyFaults(value, present)];
  if (!checked.ok || faults.length > 0) throw new Problem('invalid', faults);
  const { resource } = checked;
  const { secret, ...body } = { secret: undefined, ...resource };
  const tooLong = sizeFaults(body);
  if (tooLong.length > 0) throw new Problem('invalid', tooLong);
  const previousUntil = until === null || (moment !== undefined && moment <= now) ? null : moment;
  return { kind, id: resource.id, resource, body, secret, previousUntil };
}

const aMoment = new RegExp(MOMENT);
const noMoment: Fault = {
  path: PREVIOUS_UNTIL,
  message: 'must be null, or a time with its offset, such as 2026-01-31T12:00:00Z (RFC 3339)',
};

/** C-01: a body that names another resource than the path is a mistake, whichever of the two is meant. */
function foreignId(value: unknown, id: string | undefined): readonly Fault[] {
  if (id === undefined || !isObject(value) || value['id'] === undefined || value['id'] === id) return [];
  return [{ path: 'id', message: 'must be the id in the path, or left out' }];
}

/** Returns the faults that no schema can see. */
function faultsOf(resource: Client | AccessPolicy, now: number): readonly Fault[] {
  if (resource.resourceType === 'AccessPolicy') return policyFaults(resource);
  const fault = futureMoment(resource, now);
  return [
    ...(fault === undefined ? [] : [fault]),
    ...idFaults(resource),
    ...trustFaults(resource),
    ...keyFaults(resource.jwks),
  ];
}

/** A client that took the place of a built-in one would receive what users consented to for that one. */
function idFaults({ id }: Client): readonly Fault[] {
  return isReservedId(id) ? [{ path: 'id', message: RESERVED_ID_MESSAGE }] : [];
}

/** A client that could make itself first party would get the rights of every user without their consent. */
function trustFaults({ first_party }: Client): readonly Fault[] {
  if (first_party !== true) return [];
  return [{ path: 'first_party', message: 'must not be true over REST: declare the client as a custom resource' }];
}

/** A rule that cannot be compiled would grant nothing: over REST it is refused at once. */
function policyFaults(policy: AccessPolicy): readonly Fault[] {
  const { fieldFault } = new CompiledPolicy(policy);
  return fieldFault === undefined ? [] : [fieldFault];
}

/**
 * Returns the fault of a `revoke_sessions_before` in the future: its highest value is final, so it would refuse every
 * token until then, and nobody could undo it. `now` in milliseconds.
 */
export function futureMoment(resource: object, now: number): Fault | undefined {
  const moment = 'revoke_sessions_before' in resource ? resource.revoke_sessions_before : undefined;
  if (typeof moment !== 'string' || Date.parse(moment) <= now) return undefined;
  return { path: 'revoke_sessions_before', message: 'must not lie in the future' };
}
