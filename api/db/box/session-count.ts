import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';
import { builtInFrom } from '../resource/resource.ts';
import { quotaOf } from '../../../crds/quota.ts';
import { storedQuota } from './box-use.ts';
import { bumpVersion } from './box.ts';
import { momentAt } from '../core/keyset.ts';
import { lowestIdAt } from '../core/uuid-v7.ts';
import type { Connections } from '../core/pool.ts';
import { filledBuckets, isBucketWithin } from '../session/bucket.ts';
import { outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/** A box whose active sessions the caller must count. */
export interface DueCount {
  readonly box: string;
  /** Tokens that were reported since the last count. */
  readonly issued: number;
}

/** Milliseconds: one statement for thousands of boxes. */
const noteLimit = 10_000;

/**
 * Reports how many tokens of each box a replica has issued since its last report, and claims at most `most` boxes that
 * are due for a count. `limit` is the quota of a box whose Namespace sets none. Throws Outage.
 */
export function noteIssued(
  pool: Connections,
  issued: ReadonlyMap<string, number>,
  limit: number,
  most: number,
): Promise<readonly DueCount[]> {
  const note = async (connection: Connection): Promise<readonly DueCount[]> => {
    const { rows } = await connection.query<{ box: string; issued: string }>(
      'SELECT box, issued FROM boxgate.note_issued($1::text[], $2::bigint[], $3, $4)',
      [[...issued.keys()], [...issued.values()], limit, most],
    );
    return rows.map((row) => ({ box: row.box, issued: Number(row.issued) }));
  };
  return outsideBoxes(pool, note, noteLimit);
}

/** Reads the quota of active sessions of a box. */
export async function readSessionQuota(connection: Connection, box: string): Promise<number> {
  const { rows } = await connection.query<{ quota: unknown }>('SELECT quota FROM boxgate.box WHERE box = $1', [box]);
  return quotaOf(storedQuota(rows[0]?.quota)).sessions;
}

/** SQL for the clients of a box: the stored ones, and the built-in ones that no stored one replaces. */
const clients = `
  SELECT r.id, r.sessions_from, r.revoked_before FROM boxgate.resource r WHERE r.box = $1 AND r.kind = 'Client'
  UNION ALL
  SELECT i.id, ${builtInFrom('$1')}, NULL FROM unnest($5::text[]) AS i (id)
   WHERE NOT EXISTS (SELECT FROM boxgate.resource r WHERE r.box = $1 AND r.kind = 'Client' AND r.id = i.id)`;

/**
 * Counts the active sessions of a box and stops at `most`; `now` in milliseconds since 1970. A session is active if a
 * check of its token would accept it. Reads every active session, so it may take seconds. Call it in a `snapshot`
 * transaction.
 */
export async function countActive(connection: Connection, box: string, now: number, most: number): Promise<number> {
  const filled = await filledBuckets(connection);
  const ahead = filled.filter((bucket) => isBucketWithin(bucket, { from: now }));
  const { rows } = await connection.query<{ count: string }>(
    `SELECT count(*) FROM (
       SELECT FROM boxgate.session s JOIN (
         SELECT r.id, GREATEST(r.sessions_from, b.sessions_from) AS sessions_from,
                ${lowestIdAt('GREATEST(r.revoked_before, b.revoked_before)')} AS first
           FROM (${clients}) AS r, boxgate.box b WHERE b.box = $1) AS c ON c.id = s.client
        WHERE s.box = $1 AND s.bucket = ANY ($2::int[]) AND s.ended_at IS NULL AND s.expires_at > ${momentAt('$3')}
          AND s.version >= c.sessions_from AND s.id >= c.first
        LIMIT $4) AS found`,
    [box, ahead, now, most, BUILT_IN_CLIENTS],
  );
  return Number(rows[0]?.count);
}

/** A finished count of the active sessions of a box. */
export interface FinishedCount extends DueCount {
  readonly active: number;
  /** Milliseconds that it took. */
  readonly took: number;
}

/**
 * Stores a count. If it shows that the box has become full, or is no longer full, every replica learns that with the
 * version that this raises, and the new state is returned; otherwise undefined. Call it in a `write` transaction.
 */
export async function storeCount(connection: Connection, count: FinishedCount): Promise<boolean | undefined> {
  const { box, active, issued, took } = count;
  await connection.query(
    'UPDATE boxgate.session_count SET active = $2, issued = greatest(issued - $3, 0), took = $4 WHERE box = $1',
    [box, active, issued, took],
  );
  const { rows } = await connection.query<{ full: boolean }>(
    'SELECT sessions_full AS full FROM boxgate.box WHERE box = $1',
    [box],
  );
  const wasFull = rows[0]?.full === true;
  const isFull = isQuotaReached(active, await readSessionQuota(connection, box), wasFull);
  if (isFull === wasFull) return undefined;
  await bumpVersion(connection, box);
  await connection.query('UPDATE boxgate.box SET sessions_full = $2 WHERE box = $1', [box, isFull]);
  return isFull;
}

/**
 * Checks whether a box has as many active sessions as its quota allows. A full box stays full until a hundredth of the
 * quota is free, because each change makes every replica load the box's new version.
 */
export function isQuotaReached(active: number, quota: number, wasFull: boolean): boolean {
  return active >= (wasFull ? quota - Math.floor(quota / 100) : quota);
}
