import type { PinnedServiceAccount, ServiceAccountsCall } from '../client/service-accounts.ts';
import { bumpVersion } from '../db/box/box.ts';
import { demandStandby } from '../db/box/durability.ts';
import { lockResources, revokeClients } from '../db/resource/write.ts';
import { readPins, storeSeen } from '../db/client-auth/service-account-pin.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { ApplyServices } from './apply.ts';
import { demandEpoch } from './demand-epoch.ts';

/**
 * Stores which pinned ServiceAccounts of a box are gone, and revokes all sessions of each client that has lost one;
 * returns the pins. No request that begins after this has returned accepts one of their tokens. Throws Fenced, Outage.
 */
export async function followServiceAccounts(
  box: string,
  { cluster, epoch, seen }: ServiceAccountsCall,
  { pool, revocationsNeedStandby }: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>,
): Promise<readonly PinnedServiceAccount[]> {
  const store = async (connection: Connection): Promise<void> => {
    if (revocationsNeedStandby) await demandStandby(connection);
    await demandEpoch(connection, cluster, epoch);
    if ((await lockResources(connection, box)) === undefined) return;
    const lost = await storeSeen(connection, box, cluster, seen);
    if (lost.length > 0) await revokeClients(connection, box, await bumpVersion(connection, box), lost);
  };
  if (seen.length > 0) await inBox(pool, box, 'write', store);
  return inBox(pool, box, 'snapshot', (connection) => readPins(connection, box, cluster));
}
