import { createRefusalCount } from './resource-use.ts';
import type { ResourceUse } from './resource-use.ts';

/** Requests that are being answered, by box. */
export interface InFlight extends ResourceUse {
  /** Counts one more request of a box; false where the box has `most` already. */
  enter(box: string, most: number): boolean;
  /** Counts one less, which has entered. */
  leave(box: string): void;
  /** Checks whether any request of another box is being answered. */
  isAnyBeside(box: string): boolean;
}

/** Creates a count of requests in flight, with none. */
export function createInFlight(): InFlight {
  const counts = new Map<string, number>();
  const refusals = createRefusalCount();

  return {
    resource: 'requests',
    uses: () => [...counts].map(([box, used]) => ({ box, used, waiting: 0 })),
    refusals: () => refusals.byBox,
    enter(box, most) {
      const count = counts.get(box) ?? 0;
      if (count >= most) {
        refusals.add(box);
        return false;
      }
      counts.set(box, count + 1);
      return true;
    },
    leave(box) {
      const left = (counts.get(box) ?? 1) - 1;
      if (left === 0) counts.delete(box);
      else counts.set(box, left);
    },
    isAnyBeside: (box) => counts.size > (counts.has(box) ? 1 : 0),
  };
}
