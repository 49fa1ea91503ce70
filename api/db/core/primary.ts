import type pg from 'pg';
import { Outage } from './outage.ts';

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
