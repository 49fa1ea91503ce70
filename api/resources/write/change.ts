import { demandStandby } from '../../db/box/durability.ts';
import { lockResources } from '../../db/resource/write.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { inBoxWithin } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { requestLimit } from '../../db/core/with-connection.ts';
import { Problem } from '../../problem.ts';
import type { ResourceServices } from '../services.ts';

/**
 * Runs a change of a box's configuration, one at a time per box: its reads are still true when it writes. Throws
 * Problem `not-found` when there is no such box, and Outage; `limit` in milliseconds if it may take longer than usual.
 */
export function changing<T>(
  services: Pick<ResourceServices, 'pool' | 'revocationsNeedStandby'>,
  box: string,
  work: (connection: Connection) => Promise<T>,
  limit = requestLimit,
): Promise<T> {
  const change = async (connection: Connection): Promise<T> => {
    if (services.revocationsNeedStandby) await demandStandby(connection);
    const version = await lockResources(connection, box);
    if (version === undefined) throw new Problem('not-found', 'There is nothing at this address');
    return work(connection);
  };
  return inBoxWithin(services.pool, box, { mode: 'write', limit }, change);
}

/** Refuses a resource that a custom resource declares: it would come back or drift. Throws Problem `conflict`. */
export function refuseManaged(current: Pick<StoredResource, 'kind' | 'id' | 'owner'> | undefined): void {
  if (current?.owner === undefined) return;
  const { kind, id, owner } = current;
  throw new Problem(
    'conflict',
    `${kind} ${id} is declared by the custom resource ${owner.name}: change or delete it there`,
  );
}
