import type pg from 'pg';
import { Outage } from './outage.ts';
import type { Connections } from './pool.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/** A connection inside a transaction. */
export type Connection = pg.PoolClient;

/** A row as Postgres returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** Mode of a transaction: `snapshot` reads everything as of one moment; in `write` each statement reads the latest. */
export type TransactionMode = 'snapshot' | 'write';

/** pg reads only times of the style ISO; poolers refuse start-up options, and drop settings of a session. */
const style = 'SET LOCAL DateStyle = ISO';

const begin = {
  snapshot: `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; ${style}`,
  write: `BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED; ${style}`,
} as const satisfies Record<TransactionMode, string>;

/** Terms of a transaction that may take longer than a request. */
export interface TransactionTerms {
  readonly mode: TransactionMode;
  /** Milliseconds that it may take in all. */
  readonly limit: number;
}

/**
 * Runs work in a transaction that sees the rows of one box only (row-level security). Commits when it returns, rolls
 * back when it throws. Throws Moved if the box is in another database; Outage if it is being moved and the transaction
 * writes, and if Postgres cannot answer, or not within the limit of a request.
 */
export function inBox<T>(
  pool: Connections,
  box: string,
  mode: TransactionMode,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return inBoxWithin(pool, box, { mode, limit: requestLimit }, work);
}

/** Runs work as {@link inBox} does, within a limit of its own. */
export function inBoxWithin<T>(
  pool: Connections,
  box: string,
  { mode, limit }: TransactionTerms,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return transaction({ pool, box, opening: opening(box, mode), limit }, (connection) => work(connection));
}

/**
 * Runs work in a `write` transaction as {@link inBox} does, with one more statement in the round trip that begins it,
 * built from the box's name as a literal. Work gets its rows.
 */
export function inBoxAfter<T>(
  pool: Connections,
  box: string,
  statement: (box: string) => string,
  work: (connection: Connection, rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const both = `${opening(box, 'write')}; ${statement(`'${box}'`)}`;
  return transaction({ pool, box, opening: both, limit: requestLimit }, work);
}

/**
 * Runs work as {@link inBoxWithin} does, wherever the box is and even while it is being moved: for the move alone. It
 * waits for no turn of the box.
 */
export function inBoxInTransit<T>(
  pool: Connections,
  box: string,
  { mode, limit }: TransactionTerms,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return transaction({ pool, opening: openingInTransit(box, mode), limit }, (connection) => work(connection));
}

function opening(box: string, mode: TransactionMode): string {
  return `${openingInTransit(box, mode)}; SELECT boxgate.demand_here(${String(mode === 'write')})`;
}

function openingInTransit(box: string, mode: TransactionMode): string {
  // The box's name is safe in the statement: it is matched against this pattern in the resolver and here.
  if (!/^[a-z0-9-]{1,63}$/.test(box)) throw new TypeError('not the name of a box');
  return `${begin[mode]}; SET LOCAL boxgate.box = '${box}'`;
}

/** Runs work in a transaction without a box: it sees no row of any box. */
export function outsideBoxes<T>(
  pool: Connections,
  work: (connection: Connection) => Promise<T>,
  limit = requestLimit,
): Promise<T> {
  return transaction({ pool, opening: begin.write, limit }, (connection) => work(connection));
}

/** Runs work inside a transaction: if it throws, only its own changes are rolled back. Passes on what it throws. */
export async function inSavepoint<T>(connection: Connection, work: (connection: Connection) => Promise<T>): Promise<T> {
  await connection.query('SAVEPOINT work');
  try {
    return await work(connection);
  } catch (error) {
    await connection.query('ROLLBACK TO SAVEPOINT work');
    throw error;
  }
}

/** A transaction before it begins. */
interface Planned {
  readonly pool: Connections;
  readonly box?: string;
  /** The statements that begin it; the rows of the last one go to the work. */
  readonly opening: string;
  readonly limit: number;
}

function transaction<T>(
  { pool, box, opening, limit }: Planned,
  work: (connection: Connection, rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const run = async (connection: Connection): Promise<T> => {
    // For several statements at once pg returns several results, which its types do not declare.
    const results = [await connection.query<Row>(opening + serverLimits(limit))].flat();
    const result = await work(connection, results.at(-1)?.rows ?? []);
    await commit(connection);
    return result;
  };
  return withConnection(pool, limit, run, box);
}

/** Returns SQL for longer limits: the server's own fit a request; a longer transaction may wait longer for a lock. */
function serverLimits(limit: number): string {
  if (limit <= requestLimit) return '';
  const lock = Math.min(limit, 10_000);
  return `; SET LOCAL statement_timeout = ${String(limit)}; SET LOCAL lock_timeout = ${String(lock)}`;
}

/** The fields of a notice that tell whether a commit was confirmed. */
interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly where?: string | undefined;
}

/**
 * Commits. Throws Outage if Postgres answers with a warning: the wait for its synchronous standby was cut short, so a
 * failover could lose what was stored. A commit after a failed statement is silently a rollback.
 */
async function commit(connection: Connection): Promise<void> {
  const warnings: string[] = [];
  const hear = ({ code, where, message = '' }: Notice): void => {
    // A notice from inside a function has a context; that of a commit has none.
    if (code !== '00000' && where === undefined) warnings.push(message);
  };
  connection.on('notice', hear);
  const { command } = await connection.query('COMMIT').finally(() => connection.off('notice', hear));
  if (warnings.length > 0) throw new Outage(`The commit is not confirmed: ${warnings.join('; ')}`);
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back, since a statement in it had failed');
}
