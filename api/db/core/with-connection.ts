import { connect } from 'node:net';
import type pg from 'pg';
import { createDeadline, unlessAborted } from '../../../program/scheduling.ts';
import { Outage, translatingErrors } from './outage.ts';
import type { Connections } from './pool.ts';

/** Connections straight to a primary. It becomes a standby only by a restart, which ends them. */
const straight = new WeakSet<pg.PoolClient>();

/**
 * Checks that a connection leads to a primary: the rows of a server in recovery may be older than a revocation. A
 * connection straight to Postgres is asked once. Behind a pooler the next transaction may run on another server, so
 * there each piece of work asks. Throws Outage.
 */
export async function requirePrimary(connection: pg.PoolClient): Promise<void> {
  if (leadsStraightToPostgres(connection)) return;
  const { rows } = await connection.query<{ readonly process: number; readonly recovery: boolean }>(
    'SELECT pg_backend_pid() AS process, pg_is_in_recovery() AS recovery',
  );
  if (rows[0]?.recovery !== false) throw new Outage(IN_RECOVERY);
  if (rows[0].process === processOf(connection)) straight.add(connection);
}

/** Reason why a server in recovery is not used. */
export const IN_RECOVERY =
  'Postgres is in recovery (a standby, or a primary that was demoted), so its rows may be older than a revocation: ' +
  'let BOXGATE_DATABASE_URL lead to the primary';

/**
 * Returns whether the process that answers a statement is the one that answered the connection, as far as
 * {@link requirePrimary} has asked. A pooler gives its callers keys of its own (BackendKeyData), since it has no server
 * process for them yet.
 */
export function leadsStraightToPostgres(connection: pg.PoolClient): boolean {
  return straight.has(connection);
}

/** Returns the process ID that the connection was given; pg keeps it without declaring it in its types. */
function processOf(connection: object): unknown {
  const { processID }: { processID?: unknown } = connection;
  return processID;
}

/** Milliseconds that a request may spend on one piece of work with Postgres: the caller gets an answer within 2 s. */
export const requestLimit = 1_700;

/**
 * Runs a piece of work on one connection to a primary, at most `limit` milliseconds from now, including the wait for
 * the connection; a transaction left open is rolled back. Throws Outage if Postgres cannot answer, or not in time: then
 * the connection is discarded, and the result of the work is ignored. Work of a box waits for the turn of the box
 * first.
 */
export function withConnection<T>(
  pool: Connections,
  limit: number,
  work: (connection: pg.PoolClient) => Promise<T>,
  box?: string,
): Promise<T> {
  return translatingErrors(async () => {
    const late = (): Outage => new Outage(`Postgres did not answer within ${String(limit)} ms`);
    const deadline = createDeadline(limit, late);
    const run = async (): Promise<T> => runOn(await pool.connect(), deadline.signal, work);
    try {
      return await (box === undefined || pool.turns === undefined ? run() : pool.turns(box, limit * patience, run));
    } finally {
      deadline.lift();
    }
  });
}

/** The part of its time that work may wait for its turn: if it started later, it would be cut off. */
const patience = 0.9;

async function runOn<T>(
  connection: pg.PoolClient,
  signal: AbortSignal,
  work: (connection: pg.PoolClient) => Promise<T>,
): Promise<T> {
  if (signal.aborted) {
    // The wait for the connection took all of the time: it is in order, and the work has not begun.
    connection.release();
    throw signal.reason;
  }
  try {
    const result = await unlessAborted(onPrimary(connection, work), signal);
    connection.release();
    return result;
  } catch (error) {
    connection.release(await rollback(connection, signal));
    throw error;
  }
}

async function onPrimary<T>(connection: pg.PoolClient, work: (connection: pg.PoolClient) => Promise<T>): Promise<T> {
  await requirePrimary(connection);
  return work(connection);
}

/** Rolls back; returns an error if the connection cannot be used any more: it would never answer. */
async function rollback(connection: pg.PoolClient, signal: AbortSignal): Promise<Error | undefined> {
  try {
    await unlessAborted(connection.query('ROLLBACK'), signal);
    return undefined;
  } catch (error) {
    cancelStatement(connection);
    return error instanceof Error ? error : new Error('rollback failed');
  }
}

const cancelRequestCode = 80_877_102;

/**
 * Asks the server to cancel the statement of a connection (PostgreSQL protocol, "Canceling Requests in Progress"). Does
 * not wait and ignores failures: a statement that is not cancelled ends by the server's own limits, except a commit
 * that waits for a lost standby, which would hold its server process forever.
 */
function cancelStatement(connection: pg.PoolClient): void {
  const address = addressOf(connection);
  if (address === undefined) return;
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelRequestCode, 4);
  message.writeInt32BE(address.processId, 8);
  message.writeInt32BE(address.secretKey, 12);
  const { host, port } = address;
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${String(port)}` } : { host, port });
  socket.setTimeout(1_000);
  socket.on('error', () => undefined);
  socket.on('timeout', () => socket.destroy());
  socket.end(message);
  socket.unref();
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly processId: number;
  readonly secretKey: number;
}

/** Returns the address and the cancel key of a connection; pg keeps them without declaring them in its types. */
function addressOf(connection: object): Address | undefined {
  const { host, port, processID: processId, secretKey }: Record<string, unknown> = { ...connection };
  const known =
    typeof host === 'string' &&
    typeof port === 'number' &&
    typeof processId === 'number' &&
    typeof secretKey === 'number';
  return known ? { host, port, processId, secretKey } : undefined;
}
