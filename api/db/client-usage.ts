import type pg from 'pg';
import { momentAt } from './keyset.ts';
import { filledBuckets, isBucketWithin } from './session-buckets.ts';
import { outsideBoxes } from './transaction.ts';
import type { Connection } from './transaction.ts';

/** That a client was used, and when; times in milliseconds since 1970. */
export interface ClientUse {
  readonly box: string;
  readonly client: string;
  /** When it last got a token. */
  readonly token: number | undefined;
  /** When it last authenticated with its previous secret, and the stored form of that one. */
  readonly previous: { readonly stored: string; readonly at: number } | undefined;
}

/** Milliseconds: thousands of clients are one statement. */
const noteLimit = 10_000;

/** Writes uses of clients of any boxes, in one statement; clients that are not there any more are passed over. Throws Outage. */
export function noteUsage(pool: pg.Pool, uses: readonly ClientUse[]): Promise<void> {
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

/** How much a client is used; times in milliseconds since 1970. */
export interface UsedClient {
  readonly id: string;
  readonly lastTokenAt: number | undefined;
  /** Living sessions, counted up to a bound. */
  readonly sessions: number;
  /** When its present previous secret was last used. */
  readonly previousUsedAt: number | undefined;
}

/**
 * How much the clients that a cluster declares in a box are used; `most` sessions of each are counted. One statement.
 * `now` in milliseconds. To be called in a
 * `snapshot` transaction with a limit of its own: a large box takes seconds.
 */
export async function readUsage(
  connection: Connection,
  box: string,
  cluster: string,
  most: number,
  now: number,
): Promise<readonly UsedClient[]> {
  const buckets = (await filledBuckets(connection)).filter((bucket) => isBucketWithin(bucket, { from: now }));
  // Clients are few or many, and the planner takes them for few: a probe for each costs four times as much (measured).
  await connection.query('SET LOCAL enable_nestloop = off');
  const { rows } = await connection.query<{
    id: string;
    last_token_at: Date | null;
    previous_used_at: Date | null;
    sessions: string;
  }>(usage, [box, cluster, buckets, now, most]);
  return rows.map((row) => ({
    id: row.id,
    lastTokenAt: row.last_token_at?.getTime(),
    sessions: Number(row.sessions),
    previousUsedAt: row.previous_used_at?.getTime(),
  }));
}

// A session counts as judgeSession judges it. The lowest id that a session begun at a time can have begins with that time.
const usage = `
WITH declared AS MATERIALIZED (
  SELECT r.id, r.previous_until, GREATEST(r.sessions_from, b.sessions_from) AS sessions_from,
         rpad(lpad(to_hex(COALESCE(extract(epoch FROM GREATEST(r.revoked_before, b.revoked_before)) * 1000, 0)::bigint),
                   12, '0'), 32, '0')::uuid AS first
    FROM boxgate.resource r JOIN boxgate.box b ON b.box = r.box
   WHERE r.box = $1 AND r.kind = 'Client' AND r.owner_cluster = $2
), living AS MATERIALIZED (
  SELECT s.client, count(*) AS sessions
    FROM boxgate.session s JOIN declared d ON d.id = s.client
   WHERE s.box = $1 AND s.bucket = ANY ($3::int[]) AND s.ended_at IS NULL AND s.expires_at > ${momentAt('$4')}
     AND s.version >= d.sessions_from AND s.id >= d.first
   GROUP BY s.client
)
SELECT d.id, u.last_token_at, CASE WHEN d.previous_until > ${momentAt('$4')} THEN u.previous_used_at END AS previous_used_at,
       LEAST(COALESCE(l.sessions, 0), $5) AS sessions
  FROM declared d
  LEFT JOIN living l ON l.client = d.id
  LEFT JOIN boxgate.client_usage u ON u.box = $1 AND u.client = d.id
 ORDER BY d.id`;
