import type { StateCache } from '../state/state-cache.ts';

/** Which boxes there are, so that a box that is not there is told from none before anything else is looked at. */
export interface KnownBoxes {
  /** Whether a box is known to be there; false: ask {@link KnownBoxes.exists}. Costs nothing. */
  isKnown(box: string): boolean;
  /** Whether a box is there. Throws Outage. */
  exists(box: string): Promise<boolean>;
}

/** Remembers the boxes that were found, while they are in memory. What was not found is asked for again. */
export function createKnownBoxes(states: Pick<StateCache, 'decide' | 'holds'>): KnownBoxes {
  const known = new Set<string>();
  return {
    isKnown: (box) => known.has(box) && states.holds(box),
    async exists(box) {
      if (known.has(box) && states.holds(box)) return true;
      const found = await states.decide(box, async (_state, statements) => {
        return { version: await statements.version(box), value: true };
      });
      if (found === true) known.add(box);
      return found === true;
    },
  };
}
