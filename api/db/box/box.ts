import type { Connections } from '../core/pool.ts';
import { inBoxAfter, outsideBoxes, inBox } from '../core/transaction.ts';
import type { Connection, Row } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';
import { Outage } from '../core/outage.ts';

/** Creates the row of a box if there is none. Only a declared object creates a box. */
export async function ensureBox(connection: Connection, box: string): Promise<void> {
  await connection.query('INSERT INTO boxgate.box (box) VALUES ($1) ON CONFLICT DO NOTHING', [box]);
}

/**
 * Raises the box's config version in the running transaction, locking the box's row until it ends; returns the new one.
 * It is the time in microseconds (see {@link nextVersion}): after a backup is restored, no version repeats that a
 * replica may still hold (F-19).
 */
export async function bumpVersion(connection: Connection, box: string): Promise<number> {
  const { rows } = await connection.query<{ version: string }>(
    `WITH raised AS (
       UPDATE boxgate.box b SET config_version = ${nextVersion('b.config_version')} FROM ${boxLock('exclusive')}
        WHERE b.box = $1 RETURNING b.box, b.config_version)
     INSERT INTO boxgate.box_version (box, version) SELECT r.box, r.config_version FROM raised r RETURNING version`,
    [box],
  );
  if (rows[0] === undefined) throw new Error(`no row of box ${box}`);
  return Number(rows[0].version);
}

/**
 * SQL for the number after `before`: the database's clock in microseconds since 1970, or one more than before if the
 * clock is behind. Fits a JavaScript number until the year 2255.
 */
export function nextVersion(before: string): string {
  return `greatest(${before} + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`;
}

/** Reads the box's config version and locks its row against a bump until the transaction ends; undefined: no box. */
export async function lockVersion(connection: Connection, box: string): Promise<number | undefined> {
  const { rows } = await connection.query<Row>(locking('$1'), [box]);
  return heldVersion(rows);
}

/**
 * Runs work in a `write` transaction that holds the box's row as {@link lockVersion} does, from its first round trip
 * on; work gets the config version. Throws Outage.
 */
export function inHeldBox<T>(
  pool: Connections,
  box: string,
  work: (connection: Connection, version: number | undefined) => Promise<T>,
): Promise<T> {
  return inBoxAfter(pool, box, locking, (connection, rows) => work(connection, heldVersion(rows)));
}

function locking(box: string): string {
  return `SELECT b.config_version AS version FROM boxgate.box b, ${boxLock('shared', box)} WHERE b.box = ${box} FOR SHARE OF b`;
}

function heldVersion([row]: readonly Row[]): number | undefined {
  return row === undefined ? undefined : Number(row['version']);
}

/**
 * SQL for a FROM clause that queues for the row of a box, `$1` or a literal. Row locks have no queue: as long as
 * shared ones overlap, a change waits (measured: two seconds behind sixteen connections that refresh tokens, which
 * a stranger with forged tokens can prolong).
 */
export function boxLock(how: 'shared' | 'exclusive', box = '$1'): string {
  const lock = how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  return `${lock}(hashtextextended('boxgate.box ' || ${box}::text, 0)) AS turn`;
}

/** Returns every box that ever existed. */
export function allBoxes(pool: Connections): Promise<readonly string[]> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ box: string }>('SELECT box FROM boxgate.all_boxes()');
    return rows.map((row) => row.box);
  });
}

/**
 * Returns the boxes in which a cluster declares something, with the number of its resources, and those bound to one of
 * its namespaces, which may be missing. Counts all resources, so it may take long.
 */
export function declaredBoxes(
  pool: Connections,
  cluster: string,
): Promise<readonly { box: string; resources: number; missing?: true }[]> {
  const count = async (connection: Connection) => {
    const { rows } = await connection.query<{ box: string; resources: string; missing: boolean }>(
      'SELECT box, resources, missing FROM boxgate.declared_boxes($1)',
      [cluster],
    );
    return rows.map(({ box, resources, missing }) => ({
      box,
      resources: Number(resources),
      ...(missing ? { missing } : {}),
    }));
  };
  return outsideBoxes(pool, count, countLimit);
}

const countLimit = 60_000;

/**
 * Returns the installation that declares a box: the one of its namespace, otherwise the one that declares most of its
 * resources; undefined if none declares anything.
 */
export async function clusterOfBox(connection: Connection, box: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ cluster: string | null }>(
    `SELECT coalesce(b.namespace_cluster,
                     (SELECT o.owner_cluster
                        FROM (SELECT r.owner_cluster FROM boxgate.resource r WHERE r.box = b.box
                              UNION ALL SELECT g.owner_cluster FROM boxgate.group g WHERE g.box = b.box) AS o
                       WHERE o.owner_cluster IS NOT NULL
                       GROUP BY o.owner_cluster ORDER BY count(*) DESC, o.owner_cluster LIMIT 1)) AS cluster
       FROM boxgate.box b WHERE b.box = $1`,
    [box],
  );
  return rows[0]?.cluster ?? undefined;
}

/** Reads the normal form of the email for which the first admin of a box was last created; undefined if none. */
export async function readBootstrapped(connection: Connection, box: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ bootstrapped: string | null }>(
    'SELECT bootstrapped FROM boxgate.box WHERE box = $1',
    [box],
  );
  return rows[0]?.bootstrapped ?? undefined;
}

/** Stores the normal form of the email for which the first admin of a box was created. */
export async function writeBootstrapped(connection: Connection, box: string, emailKey: string): Promise<void> {
  await connection.query('UPDATE boxgate.box SET bootstrapped = $2 WHERE box = $1', [box, emailKey]);
}

/**
 * Makes the running transaction's commit wait until a synchronous standby has it on disk.
 * Throws Outage if there is no such standby: a failover could lose the change. A standby that goes away later leaves
 * the commit unconfirmed, which is an Outage too (inBox), although the change may be stored.
 */
export async function demandStandby(connection: Connection): Promise<void> {
  // A role that may not read the statistics sees that there is a standby, but not its kind.
  const { rows } = await connection.query<{ configured: boolean; connected: boolean }>(
    `SELECT set_config('synchronous_commit', 'on', true),
            current_setting('synchronous_standby_names') <> '' AS configured,
            EXISTS (SELECT FROM pg_stat_replication
                     WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')) AS connected`,
  );
  const [standby] = rows;
  if (standby?.configured !== true) throw new Outage('No synchronous standby is configured');
  if (!standby.connected) throw new Outage('No synchronous standby is connected');
}

/**
 * Makes the commit wait in the same way even if the transaction changes nothing: an earlier call, which was not
 * confirmed, may have made the change already. A commit without writes does not wait; a row lock is a write.
 */
export async function demandStandbyForBox(connection: Connection, box: string): Promise<void> {
  await demandStandby(connection);
  await lockVersion(connection, box);
}

/**
 * Resolves when a synchronous standby has everything committed in a box until now: unconfirmed changes of an earlier
 * call may then be reported as done. Throws Outage.
 */
export function confirmOnStandby(pool: Connections, box: string): Promise<void> {
  return inBox(pool, box, 'write', (connection) => demandStandbyForBox(connection, box));
}
