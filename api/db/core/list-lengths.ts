import { setNewest } from '../../../process/set-newest.ts';

/** Length of a list when it was last counted: `state` is that of a list with more rows than a total tells. */
export type ListLength = { readonly is: 'medium' } | { readonly is: 'long'; readonly state: string };

/** Memory of the lists that are not short, so that their pages need not count again what is known. */
export interface ListLengths {
  /** Returns the length of the list of a box; undefined: it may be short. */
  readonly of: (box: string) => ListLength | undefined;
  /** Notes the length of the list of a box. */
  readonly note: (box: string, length: ListLength) => void;
}

/** Boxes that are remembered, the last ones that were counted. */
const mostBoxes = 10_000;

/**
 * Milliseconds after which a list is counted again. Rows of a long list disappear with a change of its state only,
 * unless Postgres itself loses some: when a standby takes over that lacks the last ones, or a backup is restored.
 */
const memory = 60_000;

/** Creates the memory of one kind of list; `now` in milliseconds since 1970. */
export function createListLengths(now: () => number): ListLengths {
  const known = new Map<string, { readonly length: ListLength; readonly until: number }>();
  return {
    of(box) {
      const found = known.get(box);
      return found !== undefined && now() < found.until ? found.length : undefined;
    },
    note(box, length) {
      setNewest(known, box, { length, until: now() + memory }, mostBoxes);
    },
  };
}
