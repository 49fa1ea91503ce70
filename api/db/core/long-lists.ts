/** Memory of lists with more rows than a total tells, so that their pages need not count again. */
export interface LongLists {
  /** Returns the state in which the list of a box was counted; undefined: it is not known to be long. */
  readonly stateOf: (box: string) => string | undefined;
  /** Notes that the list of a box is long in this state. */
  readonly note: (box: string, state: string) => void;
}

/** Boxes that are remembered, the last ones that were counted. */
const mostBoxes = 10_000;

/**
 * Milliseconds after which a list is counted again. Rows of a list disappear with a change of its state only, unless
 * Postgres itself loses some: when a standby takes over that lacks the last ones, or a backup is restored.
 */
const memory = 60_000;

/** Creates the memory of one kind of list; `now` in milliseconds since 1970. */
export function createLongLists(now: () => number): LongLists {
  const known = new Map<string, { readonly state: string; readonly until: number }>();
  return {
    stateOf(box) {
      const found = known.get(box);
      return found !== undefined && now() < found.until ? found.state : undefined;
    },
    note(box, state) {
      known.delete(box);
      known.set(box, { state, until: now() + memory });
      for (const oldest of known.keys()) {
        if (known.size <= mostBoxes) break;
        known.delete(oldest);
      }
    },
  };
}
