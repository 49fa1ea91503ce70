import type { Connections } from '../core/pool.ts';
import { outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';

const dayMs = 86_400_000;
const firstMonthBucket = 1_000_000;

/** Maximum days from a session's issue to its end for a daily bucket; beyond that, the bucket is a month. */
const daysAhead = 60;

/** Months of buckets to create ahead: a token may live for years. */
const monthsAhead = 121;

/**
 * Returns the bucket of a session: the UTC day it ends (days since 1970) if that is within 60 days of its issue,
 * otherwise 1,000,000 + the month. Both times in seconds since 1970.
 */
export function bucketOf(issuedAt: number, expiresAt: number): number {
  const day = Math.floor(expiresAt / 86_400);
  return day - Math.floor(issuedAt / 86_400) <= daysAhead ? day : monthBucket(new Date(expiresAt * 1000));
}

function monthBucket(time: Date): number {
  return firstMonthBucket + time.getUTCFullYear() * 12 + time.getUTCMonth();
}

/** Result of {@link upkeepBuckets}. */
export interface BucketUpkeep {
  readonly made: readonly number[];
  readonly dropped: readonly number[];
}

/**
 * Creates the buckets that sessions issued from now on may need, and drops those that ended over a day ago by the clock
 * of the database; a bucket that a long statement reads is dropped next time. Throws Outage.
 */
export async function upkeepBuckets(pool: Connections, now: Date): Promise<BucketUpkeep> {
  const found = await readBuckets(pool);
  const made = await makeMissing(pool, wantedBuckets(now), new Set(found.map(({ bucket }) => bucket)));
  const dropped: number[] = [];
  for (const { bucket } of found.filter(({ over }) => over)) {
    if (await callOn(pool, 'drop_bucket', bucket, bucketLimit)) dropped.push(bucket);
  }
  return { made, dropped };
}

async function makeMissing(
  pool: Connections,
  wanted: readonly number[],
  there: ReadonlySet<number>,
): Promise<readonly number[]> {
  if (there.size === 0 && (await callOn(pool, 'make_first_buckets', wanted, firstLimit))) return wanted;
  const made: number[] = [];
  // One transaction each: the lock on the whole table is held for one of them only.
  for (const bucket of wanted.filter((one) => !there.has(one))) {
    if (await callOn(pool, 'make_bucket', bucket, bucketLimit)) made.push(bucket);
  }
  return made;
}

function readBuckets(pool: Connections): Promise<readonly { readonly bucket: number; readonly over: boolean }[]> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ bucket: number; over: boolean }>(
      'SELECT bucket, over FROM boxgate.buckets()',
    );
    return rows;
  });
}

function callOn(
  pool: Connections,
  name: 'make_first_buckets' | 'make_bucket' | 'drop_bucket',
  argument: number | readonly number[],
  limit: number,
): Promise<boolean> {
  const call = async (connection: Connection): Promise<boolean> => {
    const { rows } = await connection.query<{ done: boolean }>(`SELECT boxgate.${name}($1) AS done`, [argument]);
    return rows[0]?.done === true;
  };
  return outsideBoxes(pool, call, limit);
}

/** Milliseconds that the change of one bucket may take: its statements have limits of their own on locks. */
const bucketLimit = 10_000;
/** The same for two hundred at once, and for the wait until another replica has created them. */
const firstLimit = 60_000;

/** Returns today's bucket and all that a token issued until the day after tomorrow may need. */
export function wantedBuckets(now: Date): readonly number[] {
  const today = Math.floor(now.getTime() / dayMs);
  const days = Array.from({ length: daysAhead + 3 }, (_, index) => today + index);
  const months = Array.from({ length: monthsAhead + 1 }, (_, index) => monthBucket(now) + index);
  return [...days, ...months];
}
