import { lockEpoch } from '../db/box/epoch.ts';
import type { Connection } from '../db/core/transaction.ts';

/** Refusal of a call whose epoch has ended, because a later leader has claimed one. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/** Checks that an epoch of a cluster is the present one, and holds it until the transaction ends. Throws Fenced. */
export async function demandEpoch(connection: Connection, cluster: string, epoch: number): Promise<void> {
  const counts = await lockEpoch(connection, cluster);
  if (counts !== epoch)
    throw new Fenced(`epoch ${String(epoch)} has ended; the current epoch is ${String(counts ?? 0)}`);
}
