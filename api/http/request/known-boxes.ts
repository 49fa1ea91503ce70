import type { StateCache } from '../../state/state-cache.ts';

/** The known boxes: an unknown one is answered as a missing path before anything else is checked. */
export interface KnownBoxes {
  /** Checks whether a box is known to exist, without a statement; if false, use {@link KnownBoxes.exists}. */
  isKnown(box: string): boolean;
  /** Checks whether a box exists. Throws Outage. */
  exists(box: string): Promise<boolean>;
}

/** Creates the set of boxes found so far that are still in memory. A box that was not found is looked up again. */
export function createKnownBoxes(states: Pick<StateCache, 'decide' | 'holds'>): KnownBoxes {
  const known = new Set<string>();
  return {
    isKnown: (box) => known.has(box) && states.holds(box),
    async exists(box) {
      if (known.has(box) && states.holds(box)) return true;
      const found = await states.decide(box, async () => true);
      if (found === true) known.add(box);
      return found === true;
    },
  };
}
