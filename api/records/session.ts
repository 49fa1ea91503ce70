import { isDeepStrictEqual } from 'node:util';
import { MOST_HINTS, wordHint } from '../../crds/did-you-mean.ts';
import type { Fault } from '../../crds/fault.ts';
import { isObject } from '../../crds/path.ts';
import { inBoxRecorded } from '../audit/recorded.ts';
import type { NoteEvent, RecordedWork } from '../audit/recorded.ts';
import { demandStandbyForBox } from '../db/box/box.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { uuidShape, uuidV7Time } from '../db/core/uuid-v7.ts';
import { GRANT_LETTERS, GRANT_NAMES } from '../db/session/record.ts';
import type { GrantLetter, SessionRecord, SessionStatus } from '../db/session/record.ts';
import { countSessions, readScope, searchSessions, sessionOrder } from '../db/session/search.ts';
import type { SessionFilters } from '../db/session/search.ts';
import { endSession, readSession } from '../db/session/session.ts';
import { withoutClaims } from '../oauth/scope-text.ts';
import { Problem } from '../problem.ts';
import { mergePatch } from './patch.ts';
import { readDates, clientIdIn, readUserId, readUuid, readWord } from './search/values.ts';
import { search } from './search/search.ts';
import type { Searchable } from './search/search.ts';
import type { ResourceServices } from './services.ts';
import { differingFields } from './write/changed-fields.ts';
import { demandPreconditions } from './write/conditions.ts';
import type { Preconditions } from './write/conditions.ts';
import { sessionSchema } from '../schemas/account.ts';
import type { SessionView } from '../schemas/account.ts';
import { changedDocument, defineRecord } from './record.ts';
import type { ChangeOfRecord, RequestedChange } from './record.ts';

type SessionServices = Pick<ResourceServices, 'pool' | 'now' | 'trail' | 'revocationsNeedStandby'>;

/** The fields of a session as it is shown; there is none for its token or its hash. */
export const sessionElements = Object.keys(sessionSchema.properties);

const statuses = ['active', 'expired', 'closed', 'revoked'] as const satisfies readonly SessionStatus[];

/** The search for sessions: an id begins with the time of its creation, so that one order has two names. */
const sessionSearch: Searchable<SessionRecord, SessionFilters> = {
  elements: new Set(sessionElements),
  sorts: { created_at: sessionOrder, id: sessionOrder },
  sort: '-created_at',
  filters: {
    id: (text, name) => ({ id: readUuid(name, text, 'session') }),
    client: (text) => ({ client: clientIdIn(text) }),
    user: (text, name) => ({ user: readUserId(name, text) }),
    type: (text, name) => ({ type: readType(name, text) }),
    status: (text, name) => ({ status: readWord(name, text, statuses) }),
  },
  ranges: {
    created_at: (texts, name) => ({ createdAt: readDates(name, texts) }),
    expires_at: (texts, name) => ({ expiresAt: readDates(name, texts) }),
  },
  find: ({ pool, now }, box, request) =>
    inBox(pool, box, 'snapshot', async (connection) => {
      const scoped = { box, filters: request.filters, now: now(), scope: await readScope(connection, box) };
      return search(request, {
        count: (most) => countSessions(connection, scoped, most),
        read: (span, total) => searchSessions(connection, scoped, span, total),
        keyOf: ({ id }) => [id],
      });
    }),
};

/** Sessions: grants create them, and a removed one stays, revoked. */
export const session = defineRecord({
  kind: 'Session',
  search: sessionSearch,
  view: sessionView,
  version: ({ status }) => status,
  idOf: (text) => (uuidShape.test(text) ? text : undefined),
  read: readSession,
  change,
  changedFields: (row, requested) => {
    if (row === undefined) return [];
    const present = sessionView(row);
    return changedFields(present, wantedSession(present, requested));
  },
  remove: revokeSession,
});

function readType(name: string, text: string): GrantLetter | undefined {
  const type = readWord(name, text, Object.values(GRANT_NAMES));
  return GRANT_LETTERS.find((letter) => GRANT_NAMES[letter] === type);
}

/** Shows a session. */
export function sessionView(session: SessionRecord): SessionView {
  return {
    resourceType: 'Session',
    id: session.id,
    type: GRANT_NAMES[session.type],
    client: { resourceType: 'Client', id: session.client },
    user: session.user === undefined ? null : { resourceType: 'User', id: String(session.user) },
    scope: withoutClaims(session.scope ?? null),
    audience: session.audience ?? null,
    active: session.status === 'active',
    status: session.status,
    created_at: new Date(uuidV7Time(session.id)).toISOString(),
    expires_at: new Date(session.expiresAt).toISOString(),
    closed_at: session.endedAt === undefined ? null : new Date(session.endedAt).toISOString(),
    parent: session.parent === undefined ? null : { resourceType: 'Session', id: session.parent },
    remote_addr: session.remoteAddr ?? null,
    user_agent: session.userAgent ?? null,
  };
}

/** Returns a session after a change: fields that a PUT leaves out stay, because the service made them. */
function wantedSession(present: SessionView, requested: RequestedChange): unknown {
  const { form, value } = requested;
  if (form === 'json-patch' || !isObject(value)) return changedDocument(present, requested);
  if (form === 'document') return { ...present, ...value };
  // Null removes no field of a session, because it stands for an absent value there.
  const nulls = Object.entries(value).filter(([, one]) => one === null);
  const merged = mergePatch(present, value);
  return isObject(merged) ? { ...merged, ...Object.fromEntries(nulls) } : merged;
}

/** Returns the names of the fields of a session that a request would change; a non-object changes none. */
function changedFields(present: SessionView, wanted: unknown): readonly string[] {
  return isObject(wanted) ? differingFields(present, wanted, sessionElements) : [];
}

/**
 * Changes a session as far as one can be changed: `active: false` or `status: revoked` revokes it. Undefined if there
 * is none. Throws Problem `invalid` with every field that cannot be changed, `precondition-failed`, ChangedMeanwhile,
 * Outage.
 */
function change(
  services: SessionServices,
  box: string,
  { id, requested, preconditions, confirmChanges }: ChangeOfRecord<string>,
): Promise<SessionRecord | undefined> {
  return revoking(services, box, async (connection, note) => {
    const row = await readSession(connection, box, id, services.now());
    if (row === undefined) return undefined;
    const present = sessionView(row);
    const wanted = wantedSession(present, requested);
    confirmChanges?.(() => changedFields(present, wanted));
    const revoked = isRevocation(present, wanted);
    demandPreconditions(preconditions, row.status);
    return revoked ? revoke(connection, box, row, { services, note }) : row;
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
    const row = await readSession(connection, box, id, services.now());
    demandPreconditions(preconditions, row?.status);
    return row === undefined ? undefined : revoke(connection, box, row, { services, note });
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
  { id }: SessionRecord,
  { services, note }: { readonly services: SessionServices; readonly note: NoteEvent },
): Promise<SessionRecord | undefined> {
  const ended = await endSession(connection, box, id, { as: 'revoked', now: services.now() });
  if (ended?.ended === true) note({ event: 'session.revoked', target: `Session/${id}` });
  return ended?.session;
}

/** Checks whether a change revokes the session. Throws Problem `invalid` when it changes anything else. */
function isRevocation(present: SessionView, wanted: unknown): boolean {
  if (!isObject(wanted)) throw new Problem('invalid', 'A session must be an object');
  const changed = new Map(
    Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(value, own(present, name))),
  );
  const missing = sessionElements.filter((name) => !Object.hasOwn(wanted, name));
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
