import type pg from 'pg';
import { eventually } from './eventually.ts';

/** Waits until one connection of a database waits for a lock. `owner` has no transaction, in which answers stay. */
export async function waitForLock(what: string, owner: Pick<pg.Pool, 'query'>): Promise<void> {
  await eventually(`${what} waits for a lock`, async () => {
    const { rowCount } = await owner.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rowCount === 1;
  });
}
