import pg from 'pg';
import type { TestApi } from './api.ts';
import { waitForLock } from './lock-wait.ts';

/** A statement, and its parameters. */
export type Held = readonly [statement: string, parameters: readonly unknown[]];

/**
 * Runs statements in a transaction, and commits it once `work`, which begins after the first one, waits for its locks.
 * Resolves with what the work resolves with.
 */
export async function meanwhile<T>(
  { database }: Pick<TestApi, 'database'>,
  [first, ...others]: readonly [Held, ...Held[]],
  work: () => Promise<T>,
): Promise<T> {
  const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  const holder = await owner.connect();
  const run = ([statement, parameters]: Held) => holder.query(statement, [...parameters]);
  try {
    await holder.query('BEGIN');
    await run(first);
    const working = work();
    // Who waits for it below hears of it.
    working.catch(() => undefined);
    await waitForLock('the work', owner);
    for (const one of others) await run(one);
    await holder.query('COMMIT');
    return await working;
  } finally {
    // With it ends a transaction that was not committed.
    holder.release(true);
    await owner.end();
  }
}
