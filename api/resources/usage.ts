import type pg from 'pg';
import { MOST_COUNTED, type BoxUsage } from '../client/desired-state.ts';
import { readUsage } from '../db/client-usage.ts';
import { inBox } from '../db/transaction.ts';

/** Milliseconds: shorter than a caller waits without hearing a byte. */
const usageLimit = 25_000;

/** How much the clients that a cluster declares in a box are used; `now` in milliseconds. Throws Outage. */
export async function boxUsage(pool: pg.Pool, box: string, cluster: string, now: number): Promise<BoxUsage> {
  const used = await inBox(
    pool,
    box,
    'snapshot',
    (connection) => readUsage(connection, box, cluster, MOST_COUNTED, now),
    usageLimit,
  );
  const clients = used.map(({ id, lastTokenAt, sessions, previousUsedAt }) => ({
    id,
    live_sessions: sessions,
    ...(lastTokenAt === undefined ? {} : { last_token_at: new Date(lastTokenAt).toISOString() }),
    ...(previousUsedAt === undefined ? {} : { previous_secret_last_used: new Date(previousUsedAt).toISOString() }),
  }));
  // There are no users in this version.
  return { clients, users: 0 };
}
