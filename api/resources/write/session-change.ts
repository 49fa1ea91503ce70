import { isObject } from '../../../crds/json-value.ts';
import { isDeepStrictEqual } from 'node:util';
import { MOST_HINTS, wordHint } from '../../../crds/did-you-mean.ts';
import type { Fault } from '../../../crds/fault.ts';
import { demandStandbyForBox } from '../../db/box/durability.ts';
import { endSession, readSession } from '../../db/session/session.ts';
import type { SessionRecord } from '../../db/session/record.ts';
import { inBoxRecorded } from '../../audit/recorded.ts';
import type { NoteEvent, RecordedWork } from '../../audit/recorded.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import { changedSessionFields } from './changed-session-fields.ts';
import type { WriteConditions } from './confirm-changes.ts';
import { demandPreconditions } from './etag.ts';
import type { Preconditions } from './etag.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import type { Patch } from './patch.ts';
import type { ResourceServices } from '../services.ts';
import { sessionElements, sessionView } from './session-view.ts';
import type { SessionView } from '../../schemas/session.ts';

type SessionServices = Pick<ResourceServices, 'pool' | 'now' | 'trail' | 'revocationsNeedStandby'>;

/** Function that makes the requested session from the present one. */
export type SessionWish = (present: SessionView) => unknown;

/** A change of a session, as it was requested. */
export interface RequestedSessionChange extends WriteConditions {
  readonly id: string;
  readonly wish: SessionWish;
}

/** Returns the change of a PUT: fields that are left out stay, because the service made them. */
export function putWish(value: unknown): SessionWish {
  return (present) => (isObject(value) ? { ...present, ...value } : value);
}

/** Returns the change of a PATCH. */
export function patchWish(patch: Patch): SessionWish {
  return (present) => (patch.form === 'json-patch' ? jsonPatch(present, patch.value) : mergeOf(present, patch.value));
}

/** Applies a merge patch; null removes no field of a session, because it stands for an absent value there. */
function mergeOf(present: SessionView, value: unknown): unknown {
  const merged = mergePatch(present, value);
  if (!isObject(merged) || !isObject(value)) return merged;
  const nulls = Object.entries(value).filter(([, one]) => one === null);
  return { ...merged, ...Object.fromEntries(nulls) };
}

/**
 * Changes a session as far as one can be changed: `active: false` or `status: revoked` revokes it. Undefined if there
 * is none. Throws Problem `invalid` with every field that cannot be changed, `precondition-failed`, ChangedMeanwhile,
 * Outage.
 */
export function changeSession(
  services: SessionServices,
  box: string,
  { id, wish, preconditions, confirmChanges }: RequestedSessionChange,
): Promise<SessionRecord | undefined> {
  return revoking(services, box, async (connection, note) => {
    const session = await readSession(connection, box, { id }, services.now());
    if (session === undefined) return undefined;
    const present = sessionView(session);
    const wished = wish(present);
    confirmChanges?.(() => changedSessionFields(present, wished));
    const revoked = isRevocation(present, wished);
    demandPreconditions(preconditions, session.status);
    return revoked ? revoke(connection, box, session, { services, note }) : session;
  });
}

/** Revokes a session but keeps its record; undefined if there is none. Throws Problem `precondition-failed`, Outage. */
export function revokeSession(
  services: SessionServices,
  box: string,
  id: string,
  preconditions: Preconditions,
): Promise<SessionRecord | undefined> {
  return revoking(services, box, async (connection, note) => {
    const session = await readSession(connection, box, { id }, services.now());
    demandPreconditions(preconditions, session?.status);
    return session === undefined ? undefined : revoke(connection, box, session, { services, note });
  });
}

function revoking<T>(services: SessionServices, box: string, work: RecordedWork<T>): Promise<T> {
  return inBoxRecorded(services, box, async (connection, note) => {
    if (services.revocationsNeedStandby) await demandStandbyForBox(connection, box);
    return work(connection, note);
  });
}

async function revoke(
  connection: Connection,
  box: string,
  { id, bucket }: SessionRecord,
  { services, note }: { readonly services: SessionServices; readonly note: NoteEvent },
): Promise<SessionRecord | undefined> {
  const ended = await endSession(connection, box, { id, bucket }, { as: 'revoked', now: services.now() });
  if (ended?.ended === true) note({ event: 'session.revoked', target: `Session/${id}` });
  return ended?.session;
}

/** Checks whether a change revokes the session. Throws Problem `invalid` when it changes anything else. */
function isRevocation(present: SessionView, wished: unknown): boolean {
  if (!isObject(wished)) throw new Problem('invalid', 'A session must be an object');
  const changed = new Map(
    Object.entries(wished).filter(([name, value]) => !isDeepStrictEqual(value, own(present, name))),
  );
  const missing = sessionElements.filter((name) => !Object.hasOwn(wished, name));
  const revokes = changed.get('active') === false || changed.get('status') === 'revoked';
  if (changed.get('active') === false) changed.delete('active');
  if (changed.get('status') === 'revoked' && present.status === 'active') changed.delete('status');
  const faults = [...changed.keys(), ...missing].map((name, nth) => faultOf(name, present, nth));
  if (faults.length > 0) throw new Problem('invalid', faults);
  return revokes;
}

function own(present: SessionView, name: string): unknown {
  return Object.entries(present).find(([known]) => known === name)?.[1];
}

function faultOf(name: string, present: SessionView, nth: number): Fault {
  if (!sessionElements.some((known) => known === name))
    return { path: name, message: `is not a known field${nth < MOST_HINTS ? wordHint(name, sessionElements) : ''}` };
  if (name !== 'active' && name !== 'status') return { path: name, message: 'cannot be changed: the service sets it' };
  if (present.status !== 'active')
    return { path: name, message: `cannot be changed: nothing leaves ${present.status}` };
  return { path: name, message: name === 'active' ? 'can only become false' : 'can only become revoked' };
}
