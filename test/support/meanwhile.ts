import pg from 'pg';
import { eventually } from './eventually.ts';
import { ownerQuery } from './owner-query.ts';
import type { TestApi } from './api.ts';

/** A statement, and its parameters. */
export type Held = readonly [statement: string, parameters: readonly unknown[]];

/**
 * Runs statements in a transaction, and commits it once `work`, which begins after the first one, waits for its locks.
 * Resolves with what the work resolves with.
 */
export async function meanwhile<T>(
  api: Pick<TestApi, 'database'>,
  [first, ...others]: readonly [Held, ...Held[]],
  work: () => Promise<T>,
): Promise<T> {
  const owner = new pg.Client({ connectionString: api.database.ownerUrl });
  await owner.connect();
  const run = ([statement, parameters]: Held) => owner.query(statement, [...parameters]);
  try {
    await owner.query('BEGIN');
    await run(first);
    const working = work();
    // Who waits for it below hears of it.
    working.catch(() => undefined);
    // Asked outside the transaction: within it Postgres answers as it did the first time (stats_fetch_consistency).
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually('the work waits', async () => (await ownerQuery(api, waiting, [])).length === 1);
    for (const one of others) await run(one);
    await owner.query('COMMIT');
    return await working;
  } finally {
    await owner.end();
  }
}
