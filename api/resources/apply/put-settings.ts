import type { ClusterSettingsCall } from '../../client/cluster-settings.ts';
import { storeClusterSettings } from '../../db/box/cluster-settings.ts';
import { demandStandby } from '../../db/box/durability.ts';
import { outsideBoxes } from '../../db/core/transaction.ts';
import { demandEpoch } from './demand-epoch.ts';
import type { ApplyServices } from './apply.ts';

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
