import { momentAt } from '../core/keyset.ts';
import { lowestIdAt } from '../core/uuid-v7.ts';
import type { Connections } from '../core/pool.ts';
import { filledBuckets, isBucketWithin } from './bucket.ts';
import { outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/** One use of a client; times in milliseconds since 1970. */
export interface ClientUse {
  readonly box: string;
  readonly client: string;
  /** Time of its last token. */
  readonly token: number | undefined;
  /** Time of its last authentication with its previous secret, and the stored form of that secret. */
  readonly previous: { readonly stored: string; readonly at: number } | undefined;
}

/** Milliseconds: thousands of clients are one statement. */
const noteLimit = 10_000;

/** Stores uses of clients of any boxes in one statement; skips clients that no longer exist. Throws Outage. */
export function noteUsage(pool: Connections, uses: readonly ClientUse[]): Promise<void> {
  const values = [
    uses.map(({ box }) => box),
    uses.map(({ client }) => client),
    uses.map(({ token }) => token ?? null),
    uses.map(({ previous }) => previous?.stored ?? null),
    uses.map(({ previous }) => previous?.at ?? null),
  ];
  const note = 'SELECT boxgate.note_usage($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[])';
  return outsideBoxes(
    pool,
    async (connection) => {
      await connection.query(note, values);
    },
    noteLimit,
  );
}

/** Times of a client's last use, in milliseconds since 1970. */
export interface LastUse {
  readonly id: string;
  readonly lastTokenAt: number | undefined;
  /** Time of the last use of its current previous secret. */
  readonly previousUsedAt: number | undefined;
}

interface LastUseColumns {
  readonly id: string;
  readonly last_token_at: Date | null;
  readonly previous_used_at: Date | null;
}

/** SQL for the clients that a cluster declares, and their last use; `$3` is now. */
const declared = `
SELECT r.id, GREATEST(r.sessions_from, b.sessions_from) AS sessions_from,
       GREATEST(r.revoked_before, b.revoked_before) AS revoked_before, u.last_token_at,
       CASE WHEN r.previous_until > ${momentAt('$3')} THEN u.previous_used_at END AS previous_used_at
  FROM boxgate.resource r
  JOIN boxgate.box b ON b.box = r.box
  LEFT JOIN boxgate.client_usage u ON u.box = r.box AND u.client = r.id
 WHERE r.box = $1 AND r.kind = 'Client' AND r.owner_cluster = $2`;

/** Reads the last use of the clients that a cluster declares in a box; `now` in milliseconds. Reads no session. */
export async function readLastUse(
  connection: Connection,
  box: string,
  cluster: string,
  now: number,
): Promise<readonly LastUse[]> {
  const { rows } = await connection.query<LastUseColumns>(`${declared} ORDER BY r.id`, [box, cluster, now]);
  return rows.map(lastUse);
}

/** The declarer of a client, and its last use. */
export interface ClientUsed {
  readonly id: string;
  /** The `namespace/name` of the object that declares it; null if none does. */
  readonly owner: string | null;
  readonly lastTokenAt: Date | null;
  /** Last use of the secret before the present one, while both are valid. */
  readonly previousUsedAt: Date | null;
}

/** Reads the last use of all clients of a box, by id. */
export async function readClientUse(connection: Connection, box: string): Promise<readonly ClientUsed[]> {
  const { rows } = await connection.query<ClientUsed>(
    `SELECT r.id, r.owner_name AS owner, u.last_token_at AS "lastTokenAt",
            CASE WHEN r.previous_until > now() THEN u.previous_used_at END AS "previousUsedAt"
       FROM boxgate.resource r
       LEFT JOIN boxgate.client_usage u ON u.box = r.box AND u.client = r.id
      WHERE r.box = $1 AND r.kind = 'Client' ORDER BY r.id`,
    [box],
  );
  return rows;
}

/** Usage of a client. */
export interface UsedClient extends LastUse {
  /** Number of its active sessions among those examined. */
  readonly sessions: number;
}

/** Clients to examine, and limits on their number and sessions. */
export interface UsageSpan {
  readonly box: string;
  readonly cluster: string;
  /** Lower bound of the ids, exclusive; empty: from the first client on. */
  readonly after: string;
  readonly clients: number;
  /** Maximum number of sessions examined for each client: the newest of those that end last. */
  readonly sessions: number;
  /** Maximum number of sessions examined in all: more than for one client. */
  readonly allSessions: number;
}

/**
 * Reads the usage of the first clients of a span, as many as `allSessions` allows; `next` is the last of them if there
 * may be more. `now` in milliseconds. The span limits the cost, however many sessions there are. Call it in a
 * `snapshot` transaction.
 */
export async function readUsage(
  connection: Connection,
  span: UsageSpan,
  now: number,
): Promise<{ readonly clients: readonly UsedClient[]; readonly next: string | undefined }> {
  const { box, cluster, after, clients, sessions, allSessions } = span;
  const filled = await filledBuckets(connection);
  const ahead = filled.filter((bucket) => isBucketWithin(bucket, { from: now })).sort((one, other) => other - one);
  // Without statistics of a new day, Postgres would read and sort all sessions of a client instead of its index.
  await connection.query(
    'SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off',
  );
  const values = [box, cluster, now, after, clients, ahead, sessions, allSessions];
  const { rows } = await connection.query<LastUseColumns & { sessions: string; rows: string }>(usage, values);
  const isCut = rows.reduce((sum, row) => sum + Number(row.rows), 0) >= allSessions;
  // The sessions of the last client may not all have been examined.
  const whole = isCut ? rows.slice(0, -1) : rows;
  const used = whole.map((row) => ({ ...lastUse(row), sessions: Number(row.sessions) }));
  return { clients: used, next: isCut || rows.length === clients ? used.at(-1)?.id : undefined };
}

/**
 * An entry of session_by_client contains only the client; entries of one client are in the order of their rows, which
 * is that of their issue. Walked backward, it meets active sessions first: expired ones, whose bucket is still to be
 * dropped, were issued earlier. (A range of one client, since Postgres has no backward walk over equal keys.) A bucket
 * whose newest session was revoked with the client or the box contains no active one and is skipped.
 *
 * A session is active as validateSession decides.
 */
const usage = `
SELECT l.client AS id, l.last_token_at, l.previous_used_at, count(*) AS rows,
       count(*) FILTER (WHERE l.ended_at IS NULL AND l.expires_at > ${momentAt('$3')} AND l.version >= l.sessions_from
                          AND l.id >= l.first) AS sessions
  FROM (SELECT d.id AS client, d.last_token_at, d.previous_used_at, d.sessions_from, d.first, w.*
          FROM (SELECT c.*, ${lowestIdAt('c.revoked_before')} AS first
                  FROM (${declared} AND r.id > $4 ORDER BY r.id LIMIT $5) AS c) AS d
          LEFT JOIN LATERAL (
            SELECT s.*
              FROM unnest($6::int[]) AS a (bucket)
             CROSS JOIN LATERAL (${newestIn('1')}) AS newest
             CROSS JOIN LATERAL (${newestIn('$7')}) AS s
             WHERE newest.version >= d.sessions_from AND newest.id >= d.first
             LIMIT $7) AS w ON true
         LIMIT $8) AS l
 GROUP BY l.client, l.last_token_at, l.previous_used_at
 ORDER BY l.client`;

/** SQL for the newest sessions of client `d` in bucket `a`. */
function newestIn(limit: string): string {
  return `SELECT s.id, s.version, s.expires_at, s.ended_at FROM boxgate.session s
           WHERE s.box = $1 AND s.bucket = a.bucket AND s.bucket = ANY ($6::int[]) AND s.client >= d.id AND s.client <= d.id
           ORDER BY s.client DESC LIMIT ${limit}`;
}

function lastUse({ id, last_token_at, previous_used_at }: LastUseColumns): LastUse {
  return { id, lastTokenAt: last_token_at?.getTime(), previousUsedAt: previous_used_at?.getTime() };
}
