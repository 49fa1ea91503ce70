import type { Connections } from '../core/pool.ts';
import { outsideBoxes } from '../core/transaction.ts';
import { uuidV7Time } from '../core/uuid-v7.ts';
import type { TimeRange } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';

/**
 * Returns the buckets that hold rows now. A statement that names them locks and plans these few partitions instead of
 * all: two hundred partitions with their indexes would fill the server's lock table after a dozen searches at once. In
 * a transaction this misses nothing that its later statements could see: a row is on disk before it is committed.
 */
export async function filledBuckets(connection: Connection): Promise<readonly number[]> {
  const { rows } = await connection.query<{ bucket: number }>(selectFilled);
  return rows.map((row) => row.bucket);
}

/** SQL for {@link filledBuckets}. */
export const selectFilled = 'SELECT bucket FROM boxgate.filled_buckets() AS bucket';

/** Checks whether a bucket can hold a session that ends within a range of time. */
export function isBucketWithin(bucket: number, expires: TimeRange): boolean {
  const { from, to } = bucketSpan(bucket);
  return (expires.to === undefined || from < expires.to) && (expires.from === undefined || to > expires.from);
}

function bucketSpan(bucket: number): { readonly from: number; readonly to: number } {
  const month = bucket - firstMonthBucket;
  if (month < 0) return { from: bucket * dayMs, to: (bucket + 1) * dayMs };
  const [year, inYear] = [Math.floor(month / 12), month % 12];
  return { from: Date.UTC(year, inYear), to: Date.UTC(year, inYear + 1) };
}

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

/**
 * Returns how far a bucket is from the time of issue (seconds since 1970), as the id of its session says it: the days
 * to a daily one, otherwise 64 + the months.
 */
export function bucketDistance(bucket: number, issuedAt: number): number {
  if (bucket < firstMonthBucket) return bucket - Math.floor(issuedAt / 86_400);
  return firstMonthDistance + bucket - monthBucket(new Date(issuedAt * 1000));
}

const firstMonthDistance = 64;

/** Returns the bucket of a session, which its id says, with or without hyphens. */
export function bucketOfSession(id: string): number {
  const begun = uuidV7Time(id);
  const distance = Number.parseInt(id.replaceAll('-', '').slice(13, 16), 16);
  if (distance < firstMonthDistance) return Math.floor(begun / dayMs) + distance;
  return monthBucket(new Date(begun)) + distance - firstMonthDistance;
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
  const made = await bucketsOf(pool, 'SELECT boxgate.make_buckets($1) AS bucket', [wantedBuckets(now)]);
  const dropped: number[] = [];
  for (const bucket of await bucketsOf(pool, overBuckets, [])) {
    // One transaction each: it locks all sessions.
    dropped.push(...(await bucketsOf(pool, 'SELECT $1::integer AS bucket WHERE boxgate.drop_bucket($1)', [bucket])));
  }
  return { made, dropped };
}

const overBuckets = `SELECT bucket FROM boxgate.bucket WHERE boxgate.bucket_end(bucket) <= now() - interval '24 hours'`;

/** Milliseconds for two hundred at once, and for the wait until another replica has created them. */
const bucketLimit = 60_000;

function bucketsOf(pool: Connections, text: string, values: readonly unknown[]): Promise<readonly number[]> {
  return outsideBoxes(
    pool,
    async (connection) => {
      const { rows } = await connection.query<{ bucket: number }>(text, [...values]);
      return rows.map(({ bucket }) => bucket);
    },
    bucketLimit,
  );
}

/** Returns today's bucket and all that a token issued until the day after tomorrow may need. */
export function wantedBuckets(now: Date): readonly number[] {
  const today = Math.floor(now.getTime() / dayMs);
  const days = Array.from({ length: daysAhead + 3 }, (_, index) => today + index);
  const months = Array.from({ length: monthsAhead + 1 }, (_, index) => monthBucket(now) + index);
  return [...days, ...months];
}
