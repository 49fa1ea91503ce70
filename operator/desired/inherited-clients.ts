import { ManagementError } from '../../api/client/management-error.ts';
import type { BoxPass } from '../reconcile/box-pass.ts';
import type { PassContext } from '../reconcile/pass-context.ts';
import type { NamespaceClaim } from '../../api/client/desired-state.ts';

/**
 * Checks whether a box may hold rows of objects that no longer exist but whose names come back: those of an older
 * cluster (`BOXGATE_ADOPT_CLUSTER`), or of the namespace that an admin adopts.
 */
export function mayInherit({ adopts }: Pick<PassContext, 'adopts'>, claim: NamespaceClaim | undefined): boolean {
  return adopts !== undefined || claim?.adopt !== undefined;
}

/**
 * Returns the ids of the clients that have a row of this cluster, including adopted ones; undefined while the API
 * cannot tell. A new secret must then wait, because the one in the row would end without an overlap.
 */
export async function inheritedClients({
  box,
  context: { management, cluster, epoch },
  signal,
}: BoxPass): Promise<ReadonlySet<string> | undefined> {
  try {
    // Claiming an epoch adopts the older cluster.
    await epoch(signal);
    const { clients } = await management.lastUses(box, cluster, signal);
    return new Set(clients.map(({ id }) => id));
  } catch (error) {
    if (error instanceof ManagementError) return undefined;
    throw error;
  }
}
