import { nextVersion } from './box.ts';
import type { Connections } from '../core/pool.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';
import { outsideBoxes } from '../core/transaction.ts';

/** Stored settings of a cluster; issuer and keys are undefined if it has no ServiceAccounts. */
export interface ClusterSettingsRow {
  readonly version: number;
  readonly serviceAccountIssuer: string | undefined;
  /** A JWK set. */
  readonly serviceAccountKeys: unknown;
}

/** Issuer and signing keys of the ServiceAccount tokens of a cluster. */
export interface ServiceAccountsRow {
  readonly issuer: string;
  readonly keys: unknown;
}

/** Stores the settings of a cluster; writes the row and raises the version only if they differ. Returns the version. */
export async function storeClusterSettings(
  connection: Connection,
  cluster: string,
  serviceAccounts: ServiceAccountsRow | undefined,
): Promise<number> {
  const keys = serviceAccounts === undefined ? null : JSON.stringify(serviceAccounts.keys);
  const written = await connection.query<{ version: string }>(
    `INSERT INTO boxgate.cluster_settings AS c (cluster, version, service_account_issuer, service_account_keys)
     VALUES ($1, ${nextVersion('0')}, $2, $3)
     ON CONFLICT (cluster) DO UPDATE SET
       version = ${nextVersion('c.version')},
       service_account_issuer = excluded.service_account_issuer,
       service_account_keys = excluded.service_account_keys
     WHERE (c.service_account_issuer, c.service_account_keys)
           IS DISTINCT FROM (excluded.service_account_issuer, excluded.service_account_keys)
     RETURNING version`,
    [cluster, serviceAccounts?.issuer ?? null, keys],
  );
  const [row] = written.rows.length > 0 ? written.rows : await versionOf(connection, cluster);
  return Number(row?.version);
}

async function versionOf(connection: Connection, cluster: string): Promise<readonly { readonly version: string }[]> {
  const text = 'SELECT version FROM boxgate.cluster_settings WHERE cluster = $1';
  return (await connection.query<{ version: string }>(text, [cluster])).rows;
}

/** Reads the settings of a cluster; undefined if it has none. Throws Outage. */
export function readClusterSettings(pool: Connections, cluster: string): Promise<ClusterSettingsRow | undefined> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ version: string; issuer: string | null; keys: unknown }>(
      `SELECT version, service_account_issuer AS issuer, service_account_keys AS keys
         FROM boxgate.cluster_settings WHERE cluster = $1`,
      [cluster],
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    return {
      version: Number(row.version),
      serviceAccountIssuer: row.issuer ?? undefined,
      serviceAccountKeys: row.keys,
    };
  });
}

/**
 * Claims the next epoch of a cluster, above `least`: applies under an older one are refused from the commit on. An
 * epoch is a time, like a version: after a backup is restored, nobody claims one that an older leader may still hold.
 */
export function claimEpoch(pool: Connections, cluster: string, least = 0): Promise<number> {
  return outsideBoxes(pool, async (connection) => {
    const { rows } = await connection.query<{ epoch: string }>(
      `INSERT INTO boxgate.operator_epoch AS e (cluster, epoch) VALUES ($1, ${nextVersion('$2::bigint')})
       ON CONFLICT (cluster) DO UPDATE SET epoch = ${nextVersion('greatest(e.epoch, $2::bigint)')} RETURNING epoch`,
      [cluster, least],
    );
    return Number(rows[0]?.epoch);
  });
}

/** Returns the newest epoch of a cluster that a database has heard of; 0 if none. Throws Outage. */
export function newestEpoch(pool: Connections, cluster: string): Promise<number> {
  return outsideBoxes(pool, async (connection) => (await lockEpoch(connection, cluster)) ?? 0);
}

/** Stores an epoch that was claimed in the home database, unless a newer one is there. Throws Outage. */
export async function raiseEpoch(pool: Connections, cluster: string, epoch: number): Promise<void> {
  await outsideBoxes(pool, (connection) =>
    connection.query(
      `INSERT INTO boxgate.operator_epoch AS e (cluster, epoch) VALUES ($1, $2)
       ON CONFLICT (cluster) DO UPDATE SET epoch = excluded.epoch WHERE e.epoch < excluded.epoch`,
      [cluster, epoch],
    ),
  );
}

/** Reads the current epoch and locks its row until the transaction ends: no claim comes between this and the commit. */
export async function lockEpoch(connection: Connection, cluster: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ epoch: string }>(
    'SELECT epoch FROM boxgate.operator_epoch WHERE cluster = $1 FOR SHARE',
    [cluster],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].epoch);
}
