import { selectRecordsFrom } from './box-data.ts';
import type { GrantLetter } from './hot-statements.ts';
import { countFound, firstBytesOf, foundCount } from './found-rows.ts';
import type { FoundCount } from './found-rows.ts';
import { keysetOf, momentAt, pageOf, Parameters } from './keyset.ts';
import type { Page, Span, TimeRange } from './keyset.ts';
import { isBucketWithin, selectFilled } from './session-buckets.ts';
import { firstIdAt } from './session-id.ts';
import { endingJoin, sessionColumns, sessionRecord } from './session-record.ts';
import type { SessionColumns, SessionRecord } from './session-record.ts';
import { couldBe, sessionStatus } from './session-status.ts';
import type { RevokedSubjects, SessionStatus } from './session-status.ts';
import type { Connection, Row } from './transaction.ts';

/** What a search for sessions may compare with. */
export interface SessionFilters {
  readonly id?: string | undefined;
  readonly client?: string | undefined;
  readonly user?: number | undefined;
  readonly type?: GrantLetter | undefined;
  readonly status?: SessionStatus | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly expiresAt?: TimeRange | undefined;
}

/** A search among the sessions of a box; `now`, in milliseconds since 1970, tells the expired ones. */
export interface SessionSearch {
  readonly box: string;
  readonly filters: SessionFilters;
  readonly now: number;
  readonly scope: SessionScope;
}

/** The places of the sessions of a box. */
export interface SessionScope {
  /** Those that hold rows, as `filledBuckets` has them. */
  readonly buckets: readonly number[];
  /** The version before which its sessions were discarded, while records of such are still there. */
  readonly from: number | undefined;
}

/** Reads where the sessions of a box are, in the transaction of the search. */
export async function readScope(connection: Connection, box: string): Promise<SessionScope> {
  const { rows } = await connection.query<Row>(selectScope('$1'), [box]);
  return scopeIn(rows);
}

/** SQL for {@link readScope}; `box` is a literal or a place. */
export function selectScope(box: string): string {
  return `SELECT ARRAY(${selectFilled}) AS buckets, (${selectRecordsFrom(box)}) AS records_from`;
}

/** Makes a scope of the row that {@link selectScope} gives. */
export function scopeIn(rows: readonly Row[]): SessionScope {
  const [{ buckets, records_from: from } = {}] = rows;
  if (!Array.isArray(buckets)) throw new TypeError('no scope of a search');
  return { buckets: buckets.map(Number), from: from === null ? undefined : Number(from) };
}

/**
 * Reads one span of the sessions that a search finds, in the order of their ids, which is that of their creation; large rows end
 * it early. `total` is how many it finds, where that is known. To be called in a `snapshot` transaction.
 */
export async function searchSessions(
  connection: Connection,
  search: SessionSearch,
  span: Span,
  total?: number,
): Promise<Page<SessionRecord>> {
  const parameters = new Parameters();
  const where = await conditionsOf(connection, search, parameters);
  const { condition, order, limit } = keysetOf([{ column: 's.id', type: 'uuid' }], span, parameters);
  // How they ended is looked up for the sessions of the span only.
  const found = `SELECT s.*, ${size} AS row_bytes
                   FROM (SELECT s.* FROM boxgate.session s WHERE ${where} AND ${condition}
                         ${isSparse(search, total) ? fence : ''}) AS s
                  ORDER BY ${order} ${limit}`;
  const { rows } = await connection.query<SessionColumns & FoundCount>(
    `SELECT ${sessionColumns(parameters.add(search.now))}, s.rows_found
       FROM (${firstBytesOf(found, parameters)}) AS s
            ${endingJoin(parameters.add(search.box))}
      ORDER BY ${order}`,
    parameters.values,
  );
  return pageOf(rows.map(sessionRecord), span, foundCount(rows));
}

/** SQL for the bytes of a session: texts of whoever asked for the token, and about 600 of everything else. */
const size = `600 + ${['scope', 'user_agent', 'audience::text'].map((text) => `coalesce(octet_length(s.${text}), 0)`).join(' + ')}`;

/**
 * What stands before it is planned by itself: all that is found is read by an index of its own and then sorted. Without
 * it the planner would walk through the sessions in order and hope to meet enough of them soon, which for a client whose
 * sessions are all old means reading everybody's.
 */
const fence = 'OFFSET 0';

/** A client or user with a known, small number of sessions. */
function isSparse({ filters }: SessionSearch, total: number | undefined): boolean {
  return total !== undefined && (filters.client !== undefined || filters.user !== undefined);
}

/** How many sessions a search finds; stops counting at `most`. To be called in a `snapshot` transaction. */
export async function countSessions(connection: Connection, search: SessionSearch, most?: number): Promise<number> {
  const parameters = new Parameters();
  const where = await conditionsOf(connection, search, parameters);
  return countFound(connection, { from: `boxgate.session s WHERE ${where}`, parameters }, most);
}

async function conditionsOf(connection: Connection, search: SessionSearch, parameters: Parameters): Promise<string> {
  const { id, client, user, type, status, createdAt, expiresAt } = search.filters;
  const buckets = bucketsOf(search);
  const conditions = [`s.box = ${parameters.add(search.box)}`, `s.bucket = ANY (${parameters.add(buckets)}::int[])`];
  const compare = (value: unknown, condition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(condition(parameters.add(value)));
  };
  compare(search.scope.from, (place) => `s.version >= ${place}`);
  compare(id, (place) => `s.id = ${place}::uuid`);
  compare(client, (place) => `s.client = ${place}`);
  compare(user, (place) => `s.user_id = ${place}`);
  compare(type, (place) => `s.type = ${place}`);
  compare(firstIdAt(createdAt?.from), (place) => `s.id >= ${place}::uuid`);
  compare(firstIdAt(createdAt?.to), (place) => `s.id < ${place}::uuid`);
  compare(expiresAt?.from, (place) => `s.expires_at >= ${momentAt(place)}`);
  compare(expiresAt?.to, (place) => `s.expires_at < ${momentAt(place)}`);
  if (status !== undefined) {
    const now = parameters.add(search.now);
    const subjects = status === 'revoked' ? await revokedSubjects(connection, search.box, parameters) : undefined;
    conditions.push(couldBe(status, now, subjects));
    conditions.push(`${sessionStatus(now)} = ${parameters.add(status)}`);
  }
  return conditions.join(' AND ');
}

/** The buckets that a found session can lie in: it ends after it began, and by its status before or after now. */
function bucketsOf({ filters, now, scope }: SessionSearch): readonly number[] {
  const { status, createdAt, expiresAt } = filters;
  const ranges: readonly TimeRange[] = [
    { from: createdAt?.from },
    expiresAt ?? {},
    status === 'active' ? { from: now } : {},
    // A millisecond more: what ends now is expired.
    status === 'expired' ? { to: now + 1 } : {},
  ];
  return scope.buckets.filter((bucket) => ranges.every((range) => isBucketWithin(bucket, range)));
}

const mostSubjects = 1000;

/** Whose sessions were ever revoked as a whole; undefined when that can be anybody's. */
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
