import type { TimeRange } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';

const dayMs = 86_400_000;
const firstMonthBucket = 1_000_000;

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
