import { generosity } from './byte-budget.ts';
import { createRefusalCount } from './resource-use.ts';
import type { ResourceUse } from './resource-use.ts';

/** Requests that are being answered, by box. */
export interface InFlight extends ResourceUse {
  /**
   * Counts one more request of a box for one of those who share it, such as a network. Returns why not: the box has
   * `most` already, or the sharer would have more than seven times what is left for others.
   */
  enter(box: string, sharer: string, most: number): 'entered' | 'quota' | 'share';
  /** Counts one request less, which has entered. */
  leave(box: string, sharer: string): void;
  /** Checks whether a request of another box is being answered, or was within the last second. */
  isAnyBeside(box: string): boolean;
}

/** A box, and the time at which its last request was answered. */
interface Served {
  readonly box: string;
  readonly at: number;
}

/** Milliseconds for which a box remains present after its last request. */
const presence = 1_000;

/** Creates a count of requests in flight, with none; `now` in milliseconds from any moment on. */
export function createInFlight(now: () => number = () => performance.now()): InFlight {
  const counts = new Map<string, number>();
  /** By sharer and box. */
  const shares = new Map<string, number>();
  const refusals = createRefusalCount();
  let last: Served = { box: '', at: -Infinity };
  let lastOther = last;

  return {
    resource: 'requests',
    uses: () => [...counts].map(([box, used]) => ({ box, used, waiting: 0 })),
    refusals: () => refusals.byBox,
    enter(box, sharer, most) {
      const share = shareOf(box, sharer);
      const count = counts.get(box) ?? 0;
      const held = shares.get(share) ?? 0;
      const isFull = count >= most;
      if (isFull || held >= generosity * (most - count)) {
        refusals.add(box);
        return isFull ? 'quota' : 'share';
      }
      counts.set(box, count + 1);
      shares.set(share, held + 1);
      return 'entered';
    },
    leave(box, sharer) {
      const share = shareOf(box, sharer);
      const held = (shares.get(share) ?? 1) - 1;
      if (held > 0) shares.set(share, held);
      else shares.delete(share);
      const left = (counts.get(box) ?? 1) - 1;
      if (left > 0) {
        counts.set(box, left);
        return;
      }
      counts.delete(box);
      if (last.box !== box) lastOther = last;
      last = { box, at: now() };
    },
    isAnyBeside(box) {
      if (counts.size > (counts.has(box) ? 1 : 0)) return true;
      const other = last.box === box ? lastOther : last;
      return now() - other.at < presence;
    },
  };
}

function shareOf(box: string, sharer: string): string {
  return `${sharer} ${box}`;
}
