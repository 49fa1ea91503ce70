import { adoptGroups } from '../declared-group.ts';
import type { Connection } from '../core/transaction.ts';
import { outsideBoxes } from '../core/transaction.ts';
import { nextVersion } from './box.ts';
import type { Connections } from '../core/pool.ts';

/** The namespace that a box belongs to. */
export interface Binding {
  /** The cluster of the namespace; undefined before one was named. */
  readonly cluster: string | undefined;
  /** UID of the namespace; undefined before one was named, and after adoption until a namespace claims the box. */
  readonly uid: string | undefined;
  /** True if another namespace claims the box, and no admin has decided yet. */
  readonly locked: boolean;
  /** True if the namespace does not exist. */
  readonly missing: boolean;
}

/** Reads the binding of a box. Call it under the box's lock. */
export async function readBinding(connection: Connection, box: string): Promise<Binding> {
  const { rows } = await connection.query<BindingRow>(
    `SELECT namespace_cluster AS cluster, namespace_uid AS uid, locked_for IS NOT NULL AS locked,
            missing_since IS NOT NULL AS missing
       FROM boxgate.box WHERE box = $1`,
    [box],
  );
  const [row] = rows;
  const { locked = false, missing = false } = row ?? {};
  return { cluster: row?.cluster ?? undefined, uid: row?.uid ?? undefined, locked, missing };
}

interface BindingRow {
  readonly cluster: string | null;
  readonly uid: string | null;
  readonly locked: boolean;
  readonly missing: boolean;
}

/** Takes a box out of service and releases its hosts, under a new version (bumpVersion): its namespace is missing. */
export async function retireBox(connection: Connection, box: string): Promise<void> {
  await connection.query('UPDATE boxgate.box SET missing_since = now() WHERE box = $1', [box]);
  await connection.query('DELETE FROM boxgate.box_host WHERE box = $1', [box]);
}

/** Returns a box to service that no namespace is bound to, under a new version (bumpVersion). */
export async function reopenBox(connection: Connection, box: string): Promise<void> {
  await connection.query('UPDATE boxgate.box SET missing_since = NULL WHERE box = $1', [box]);
}

/** Binds a box to a namespace and opens it. Under a new version (bumpVersion) if it was locked or out of service. */
export async function bindBox(connection: Connection, box: string, cluster: string, uid: string): Promise<void> {
  await connection.query(
    `UPDATE boxgate.box SET namespace_cluster = $2, namespace_uid = $3, locked_for = NULL, missing_since = NULL
      WHERE box = $1`,
    [box, cluster, uid],
  );
}

/** Locks a box, under a new version (bumpVersion): replicas that hold it in memory must learn of it. */
export async function lockBox(connection: Connection, box: string, uid: string): Promise<void> {
  await connection.query('UPDATE boxgate.box SET locked_for = $2, missing_since = NULL WHERE box = $1', [box, uid]);
}

/**
 * Transfers the rows that a cluster declares in a box to another cluster, or to itself again: the same objects in a
 * namespace that was created again have other UIDs, so the objects with the old names become the owners.
 */
export async function adoptRows(connection: Connection, box: string, from: string, to: string): Promise<void> {
  await connection.query(
    'UPDATE boxgate.resource SET owner_cluster = $3, owner_uid = NULL WHERE box = $1 AND owner_cluster = $2',
    [box, from, to],
  );
  await adoptGroups(connection, box, from, to);
}

/** Milliseconds: every row of an installation may change its owner. */
const adoptLimit = 300_000;

/**
 * Claims the next epoch of a cluster, above `least`, as claimEpoch does, and transfers everything of an older cluster
 * to it. The older one's epoch is claimed too, which waits for its running calls and refuses later ones.
 */
export function claimAndAdopt(pool: Connections, cluster: string, older: string, least = 0): Promise<number> {
  const adopt = async (connection: Connection): Promise<number> => {
    const { rows } = await connection.query<{ cluster: string; epoch: string }>(
      `INSERT INTO boxgate.operator_epoch AS e (cluster, epoch)
       SELECT c, ${nextVersion('$2::bigint')} FROM unnest($1::text[]) AS c ORDER BY c
       ON CONFLICT (cluster) DO UPDATE SET epoch = ${nextVersion('greatest(e.epoch, $2::bigint)')} RETURNING cluster, epoch`,
      [[...new Set([cluster, older])], least],
    );
    await connection.query('SELECT boxgate.adopt_cluster($1, $2)', [older, cluster]);
    return Number(rows.find((row) => row.cluster === cluster)?.epoch);
  };
  return outsideBoxes(pool, adopt, adoptLimit);
}
