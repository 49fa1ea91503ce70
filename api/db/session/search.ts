import { selectRecordsFrom } from '../box/box-data.ts';
import type { GrantLetter, SessionAsJson, SessionRecord, RevokedSubjects, SessionStatus } from './record.ts';
import { countFound, firstBytesOf, foundCount, Conditions } from '../core/listing.ts';
import type { FoundCount } from '../core/listing.ts';
import { keysetOf, pageOf, Parameters } from '../core/keyset.ts';
import type { Page, SortColumn, Span, TimeRange } from '../core/keyset.ts';
import { bucketOfSession, isBucketWithin, selectFilled } from './bucket.ts';
import { firstIdAt } from '../core/uuid-v7.ts';
import { endingJoin, sessionColumns, sessionRecord, couldBe, sessionStatus } from './record.ts';
import type { Connection } from '../core/transaction.ts';

/** Limit of the active sessions of one client. */
interface ClientLimit {
  readonly box: string;
  readonly client: string;
  readonly most: number;
}

/** Milliseconds between counts of a client at its limit, however often it requests a token. */
const countEvery = 1_000;

/**
 * Reserves one more session for a client that has fewer than `most` active ones; otherwise returns false. `now` in
 * milliseconds since 1970. The client's row is locked until the transaction ends: two requests cannot share one place.
 */
export async function takeSessionRoom(connection: Connection, limit: ClientLimit, now: number): Promise<boolean> {
  if (await takeCounted(connection, limit)) return true;
  const { box, client, most } = limit;
  const found = await lockRoom(connection, limit);
  // Another request may have counted during the wait for the lock.
  if (found.most === most && found.room > 0) return takeCounted(connection, limit);
  if (found.most === most && found.fullAt !== undefined && Math.abs(now - found.fullAt) < countEvery) return false;
  const scope = await readScope(connection, box);
  const living = await countSessions(connection, { box, filters: { client, status: 'active' }, now, scope }, most);
  await connection.query(
    `UPDATE boxgate.session_room SET most = $3, room = $4, full_at = to_timestamp($5 / 1000.0)
      WHERE box = $1 AND client = $2`,
    [box, client, most, Math.max(most - living - 1, 0), living < most ? null : now],
  );
  return living < most;
}

async function takeCounted(connection: Connection, { box, client, most }: ClientLimit): Promise<boolean> {
  const { rowCount } = await connection.query(
    'UPDATE boxgate.session_room SET room = room - 1 WHERE box = $1 AND client = $2 AND most = $3 AND room > 0',
    [box, client, most],
  );
  return rowCount === 1;
}

interface Room {
  readonly most: number;
  readonly room: number;
  /** Milliseconds since 1970. */
  readonly fullAt: number | undefined;
}

async function lockRoom(connection: Connection, { box, client, most }: ClientLimit): Promise<Room> {
  await connection.query(
    `INSERT INTO boxgate.session_room (box, client, most, room) VALUES ($1, $2, $3, 0)
     ON CONFLICT DO NOTHING`,
    [box, client, most],
  );
  const { rows } = await connection.query<{ most: number; room: number; full_at: Date | null }>(
    'SELECT most, room, full_at FROM boxgate.session_room WHERE box = $1 AND client = $2 FOR UPDATE',
    [box, client],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no session_room of ${box}/${client}`);
  return { most: row.most, room: row.room, fullAt: row.full_at?.getTime() };
}

/** Filters of a search for sessions. */
export interface SessionFilters {
  readonly id?: string | undefined;
  readonly client?: string | undefined;
  readonly user?: number | undefined;
  readonly type?: GrantLetter | undefined;
  readonly status?: SessionStatus | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly expiresAt?: TimeRange | undefined;
}

/** A search among the sessions of a box; `now`, in milliseconds since 1970, decides which have expired. */
export interface SessionSearch {
  readonly box: string;
  readonly filters: SessionFilters;
  readonly now: number;
  readonly scope: SessionScope;
}

/** The buckets and versions of the sessions of a box. */
export interface SessionScope {
  /** The buckets that hold rows, from `filledBuckets`. */
  readonly buckets: readonly number[];
  /** The version before which its sessions were discarded, while records of them still exist. */
  readonly from: number | undefined;
}

/** Reads the scope of the sessions of a box, in the transaction of the search. */
export async function readScope(connection: Connection, box: string): Promise<SessionScope> {
  const { rows } = await connection.query<{ buckets: number[]; records_from: string | null }>(
    `SELECT ARRAY(${selectFilled}) AS buckets, (${selectRecordsFrom}) AS records_from`,
    [box],
  );
  const { buckets = [], records_from: from = null } = rows[0] ?? {};
  return { buckets, from: from === null ? undefined : Number(from) };
}

/** Columns that sort sessions: an id begins with the time of its creation. */
export const sessionOrder = [{ column: 's.id', type: 'uuid' }] as const satisfies readonly SortColumn[];

/**
 * Reads one span of the sessions that a search finds, in the order of their ids, which is that of their creation. Large
 * rows end it early. `total` is the number it finds, if known. Call it in a `snapshot` transaction.
 */
export async function searchSessions(
  connection: Connection,
  search: SessionSearch,
  span: Span,
  total?: number,
): Promise<Page<SessionRecord>> {
  const parameters = new Parameters();
  const where = await conditionsOf(connection, search, parameters);
  const { condition, order, limit } = keysetOf(sessionOrder, span, parameters);
  // The ending is looked up for the sessions of the span only.
  const found = `SELECT s.*, ${size} AS row_bytes
                   FROM (SELECT s.* FROM boxgate.session s WHERE ${where} AND ${condition}
                         ${isSparse(search, total) ? fence : ''}) AS s
                  ORDER BY ${order} ${limit}`;
  // A row of JSON takes half as much of the event loop as one of fourteen values.
  const text = `SELECT to_json(shown) AS session, s.rows_found
       FROM (${firstBytesOf(found, parameters)}) AS s
            ${endingJoin(parameters.add(search.box))}
            CROSS JOIN LATERAL (SELECT ${sessionColumns(parameters.add(search.now))}) AS shown
      ORDER BY ${order}`;
  const { rows } = await connection.query<SessionAsJson & FoundCount>(text, parameters.values);
  return pageOf(
    rows.map(({ session }) => sessionRecord(session)),
    span,
    foundCount(rows),
  );
}

/** SQL for the bytes of a session: texts sent with the token request, and about 600 for everything else. */
const size = `600 + ${['scope', 'user_agent', 'audience::text'].map((text) => `coalesce(octet_length(s.${text}), 0)`).join(' + ')}`;

/**
 * Makes Postgres plan the query before it separately: all rows found are read by an index of its own and then sorted.
 * Without it the planner would walk through the sessions in order, expecting to meet enough of them soon; for a client
 * whose sessions are all old that means reading everybody's.
 */
const fence = 'OFFSET 0';

/** Checks whether the search is for a client or user with a known, small number of sessions. */
function isSparse({ filters }: SessionSearch, total: number | undefined): boolean {
  return total !== undefined && (filters.client !== undefined || filters.user !== undefined);
}

/** Counts the sessions that a search finds, up to `most`. Call it in a `snapshot` transaction. */
export async function countSessions(connection: Connection, search: SessionSearch, most?: number): Promise<number> {
  const parameters = new Parameters();
  const where = await conditionsOf(connection, search, parameters);
  return countFound(connection, { from: `boxgate.session s WHERE ${where}`, parameters }, most);
}

async function conditionsOf(connection: Connection, search: SessionSearch, parameters: Parameters): Promise<string> {
  const { id, client, user, type, status, createdAt, expiresAt } = search.filters;
  const buckets = bucketsOf(search);
  const conditions = new Conditions(parameters);
  conditions.compare(search.box, (place) => `s.box = ${place}`);
  conditions.compare(buckets, (place) => `s.bucket = ANY (${place}::int[])`);
  conditions.compare(search.scope.from, (place) => `s.version >= ${place}`);
  conditions.compare(id, (place) => `s.id = ${place}::uuid`);
  conditions.compare(client, (place) => `s.client = ${place}`);
  conditions.compare(user, (place) => `s.user_id = ${place}`);
  conditions.compare(type, (place) => `s.type = ${place}`);
  conditions.compare(firstIdAt(createdAt?.from), (place) => `s.id >= ${place}::uuid`);
  conditions.compare(firstIdAt(createdAt?.to), (place) => `s.id < ${place}::uuid`);
  conditions.within('s.expires_at', expiresAt);
  if (status !== undefined) {
    const now = parameters.add(search.now);
    const subjects = status === 'revoked' ? await revokedSubjects(connection, search.box, parameters) : undefined;
    conditions.add(couldBe(status, now, subjects));
    conditions.add(`${sessionStatus(now)} = ${parameters.add(status)}`);
  }
  return conditions.text;
}

/** Returns the buckets that may hold a result: a session ends after it began, and by its status before or after now. */
function bucketsOf({ filters, now, scope }: SessionSearch): readonly number[] {
  const { id, status, createdAt, expiresAt } = filters;
  if (id !== undefined) return [bucketOfSession(id)];
  const ranges: readonly TimeRange[] = [
    { from: createdAt?.from },
    expiresAt ?? {},
    status === 'active' ? { from: now } : {},
    // One millisecond more: a session that ends now is expired.
    status === 'expired' ? { to: now + 1 } : {},
  ];
  return scope.buckets.filter((bucket) => ranges.every((range) => isBucketWithin(bucket, range)));
}

const mostSubjects = 1000;

/** Reads the clients and users whose sessions were ever all revoked; undefined if that may be any of the box. */
async function revokedSubjects(
  connection: Connection,
  box: string,
  parameters: Parameters,
): Promise<RevokedSubjects | undefined> {
  const { rows } = await connection.query<{ subject: string }>(
    'SELECT DISTINCT subject FROM boxgate.revocation WHERE box = $1 LIMIT $2',
    [box, mostSubjects + 1],
  );
  const parts = rows.map(({ subject }) => subject.split(':'));
  if (rows.length > mostSubjects || parts.some(([kind]) => kind === 'box')) return undefined;
  const idsOf = (kind: string): (string | undefined)[] => parts.filter(([own]) => own === kind).map(([, id]) => id);
  return { clients: parameters.add(idsOf('client')), users: parameters.add(idsOf('user')) };
}
