import type { ClusterSettingsCall } from '../client/cluster-settings.ts';
import { storeClusterSettings } from '../db/box/cluster-settings.ts';
import { demandStandby } from '../db/box/durability.ts';
import { outsideBoxes } from '../db/core/transaction.ts';
import { demandEpoch } from './demand-epoch.ts';
import type { ApplyServices } from './apply.ts';
import type { BoxHostsCall, StoredHosts } from '../client/box-hosts.ts';
import { assignHosts } from '../db/box/box-host.ts';

/** Milliseconds: an apply that relies on a host holds it until it has ended. */
const assignLimit = 60_000;

/**
 * Assigns the hosts of a cluster's boxes, all in one transaction; no request that begins after this has returned finds
 * a box under a host that it has lost. Throws Fenced, Outage.
 */
export function putHosts(
  { cluster, epoch, default_issuers, boxes }: BoxHostsCall,
  { pool, revocationsNeedStandby }: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>,
): Promise<StoredHosts> {
  const write = async (connection: Parameters<typeof assignHosts>[0]): Promise<StoredHosts> => {
    if (revocationsNeedStandby) await demandStandby(connection);
    await demandEpoch(connection, cluster, epoch);
    return assignHosts(connection, cluster, default_issuers, boxes);
  };
  return outsideBoxes(pool, write, assignLimit);
}

/**
 * Stores the settings of a cluster for the API; returns their version. A key that is left out serves no request that
 * begins after this has returned: those that need keys ask Postgres for their version. Throws Fenced, Outage.
 */
export function putSettings(
  { cluster, epoch, service_accounts }: ClusterSettingsCall,
  { pool, revocationsNeedStandby }: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>,
): Promise<number> {
  return outsideBoxes(pool, async (connection) => {
    if (revocationsNeedStandby) await demandStandby(connection);
    await demandEpoch(connection, cluster, epoch);
    return storeClusterSettings(connection, cluster, service_accounts ?? undefined);
  });
}
