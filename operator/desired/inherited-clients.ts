import { ManagementError } from '../../api/client/management-error.ts';
import type { LastUses, NamespaceClaim } from '../../api/client/desired-state.ts';

/**
 * Checks whether a box may hold rows of objects that no longer exist but whose names come back: those of an older
 * cluster (`BOXGATE_ADOPT_CLUSTER`), or of the namespace that an admin adopts.
 */
export function mayInherit(adopts: string | undefined, claim: NamespaceClaim | undefined): boolean {
  return adopts !== undefined || claim?.adopt !== undefined;
}

/**
 * Returns the ids of the clients that have a row of this cluster, including adopted ones; undefined while the API
 * cannot tell. A new secret must then wait, because the one in the row would end without an overlap.
 */
export async function inheritedClients(
  lastUses: () => Promise<LastUses['clients']>,
): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await lastUses()).map(({ id }) => id));
  } catch (error) {
    if (error instanceof ManagementError) return undefined;
    throw error;
  }
}
