import type pg from 'pg';
import { cancelStatement } from './cancel.ts';
import { Outage, translatingErrors } from './outage.ts';
import type { Connections } from './pool.ts';

/** Milliseconds that a request may spend on one piece of work with Postgres: the caller gets an answer within 2 s. */
export const requestLimit = 1_700;

/**
 * Runs a piece of work on one connection, at most `limit` milliseconds from now, including the wait for the connection;
 * a transaction left open is rolled back. Throws Outage if Postgres cannot answer, or not in time: then the connection
 * is discarded, and the result of the work is ignored. Work of a box waits for the turn of the box first.
 */
export function withConnection<T>(
  pool: Connections,
  limit: number,
  work: (connection: pg.PoolClient) => Promise<T>,
  box?: string,
): Promise<T> {
  return translatingErrors(async () => {
    const deadline = createDeadline(limit);
    const run = async (): Promise<T> => runOn(await pool.connect(), deadline.passed, work);
    try {
      return await (box === undefined || pool.turns === undefined ? run() : pool.turns(box, limit * patience, run));
    } finally {
      deadline.clear();
    }
  });
}

/** The part of its time that work may wait for its turn: if it started later, it would be cut off. */
const patience = 0.9;

/** Creates a deadline: `passed` is rejected with an Outage after `limit` milliseconds. */
function createDeadline(limit: number): { readonly passed: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Outage(`Postgres did not answer within ${String(limit)} ms`));
    }, limit);
  });
  // There may be no listener when it passes.
  passed.catch(() => undefined);
  return {
    passed,
    clear() {
      clearTimeout(timer);
    },
  };
}

async function runOn<T>(
  connection: pg.PoolClient,
  passed: Promise<never>,
  work: (connection: pg.PoolClient) => Promise<T>,
): Promise<T> {
  try {
    const result = await Promise.race([work(connection), passed]);
    connection.release();
    return result;
  } catch (error) {
    connection.release(await rollback(connection, passed));
    throw error;
  }
}

/** Rolls back; returns an error if the connection cannot be used any more: it would never answer. */
async function rollback(connection: pg.PoolClient, passed: Promise<never>): Promise<Error | undefined> {
  try {
    await Promise.race([passed, connection.query('ROLLBACK')]);
    return undefined;
  } catch (error) {
    cancelStatement(connection);
    return error instanceof Error ? error : new Error('rollback failed');
  }
}
