import { lockEpoch } from '../db/epoch.ts';
import type { Connection } from '../db/transaction.ts';

/** A later leader has claimed an epoch: this one's calls count no more. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/** That an epoch of a cluster counts, until the transaction ends. Throws Fenced. */
export async function demandEpoch(connection: Connection, cluster: string, epoch: number): Promise<void> {
  const counts = await lockEpoch(connection, cluster);
  if (counts !== epoch) throw new Fenced(`epoch ${String(epoch)} is over, ${String(counts ?? 0)} counts`);
}
