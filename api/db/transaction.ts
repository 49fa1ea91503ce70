import type pg from 'pg';
import { Outage } from './outage.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/** A connection inside a transaction. */
export type Connection = pg.PoolClient;

/** How a transaction begins: `snapshot` reads everything as of one moment, `write` sees each statement's own present. */
export type TransactionMode = 'snapshot' | 'write';

const begin = {
  snapshot: 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
  write: 'BEGIN',
} as const satisfies Record<TransactionMode, string>;

/**
 * Runs work in a transaction that sees the rows of one box only (row-level security). Commits when it returns, rolls
 * back when it throws. It may take `limit` milliseconds in all; more than a request has must be asked for. Throws Outage
 * when Postgres cannot answer, or not in time.
 */
export function inBox<T>(
  pool: pg.Pool,
  box: string,
  mode: TransactionMode,
  work: (connection: Connection) => Promise<T>,
  limit = requestLimit,
): Promise<T> {
  // The box's name is safe to stand in the statement: it is matched against this pattern in the resolver and here.
  if (!/^[a-z0-9-]{1,63}$/.test(box)) throw new TypeError('not the name of a box');
  return transaction(pool, `${begin[mode]}; SET LOCAL boxgate.box = '${box}'`, work, limit);
}

/** Runs work in a transaction without a box: it sees no row of any. */
export function outsideBoxes<T>(
  pool: pg.Pool,
  work: (connection: Connection) => Promise<T>,
  limit = requestLimit,
): Promise<T> {
  return transaction(pool, begin.write, work, limit);
}

function transaction<T>(
  pool: pg.Pool,
  opening: string,
  work: (connection: Connection) => Promise<T>,
  limit: number,
): Promise<T> {
  return withConnection(pool, limit, async (connection) => {
    await connection.query(opening + serverLimits(limit));
    const result = await work(connection);
    await commit(connection);
    return result;
  });
}

/** The server's own limits fit a request; a longer transaction may also wait longer for a lock. */
function serverLimits(limit: number): string {
  if (limit <= requestLimit) return '';
  const lock = Math.min(limit, 10_000);
  return `; SET LOCAL statement_timeout = ${String(limit)}; SET LOCAL lock_timeout = ${String(lock)}`;
}

/**
 * Commits. A commit that Postgres answers with a warning is not confirmed: the wait for its synchronous standby was cut
 * short. And one whose statement had failed before is a rollback, silently.
 */
async function commit(connection: Connection): Promise<void> {
  const warnings: string[] = [];
  const hear = ({ code, message = '' }: { code?: string | undefined; message?: string | undefined }): void => {
    if (code !== '00000') warnings.push(message);
  };
  connection.on('notice', hear);
  const { command } = await connection.query('COMMIT').finally(() => connection.off('notice', hear));
  if (warnings.length > 0) throw new Outage(`The commit is not confirmed: ${warnings.join('; ')}`);
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back, since a statement in it had failed');
}
