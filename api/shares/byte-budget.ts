import { createRefusalCount } from './resource-use.ts';
import type { ResourceUse } from './resource-use.ts';

/** A budget of bytes that the process may hold for its callers; see {@link createByteBudget}. */
export interface ByteBudget extends ResourceUse {
  /** Takes bytes for a sharer, such as an address; false when the sharer would hold more than its share. */
  take(sharer: string, bytes: number): boolean;
  /** Gives back bytes that were taken, each once. */
  giveBack(sharer: string, bytes: number): void;
  /** Bytes that are taken. */
  readonly used: number;
}

/** A sharer may hold so many times what is left: 7 leaves a lone sharer seven eighths of a budget. */
export const generosity = 7;

/**
 * Creates a budget of `total` bytes. A sharer may hold at most a multiple of the bytes that stay free (dynamic
 * thresholds, Choudhury and Hahne, 1998): a lone one nearly all, n equal ones about an n-th each, and a newcomer always
 * finds some left.
 */
export function createByteBudget(resource: string, total: number): ByteBudget {
  const held = new Map<string, number>();
  const refusals = createRefusalCount();
  let used = 0;

  function add(sharer: string, bytes: number): void {
    const sum = (held.get(sharer) ?? 0) + bytes;
    if (sum === 0) held.delete(sharer);
    else held.set(sharer, sum);
    used += bytes;
  }

  return {
    resource,
    get used() {
      return used;
    },
    uses: () => [{ box: '', used, waiting: 0 }],
    refusals: () => refusals.byBox,
    take(sharer, bytes) {
      const free = total - used - bytes;
      if ((held.get(sharer) ?? 0) + bytes > generosity * free) {
        refusals.add('');
        return false;
      }
      add(sharer, bytes);
      return true;
    },
    giveBack(sharer, bytes) {
      add(sharer, -bytes);
    },
  };
}
