import { setImmediate } from 'node:timers/promises';
import { createFairQueue } from '../shares/fair-queue.ts';
import type { FairQueue } from '../shares/fair-queue.ts';
import type { Sharer } from '../shares/places.ts';

/** Runs a slice of work when the event loop has time for it, and resolves after it. */
export type LoopTurn = (slice: () => void) => Promise<void>;

/** Creates the queue that divides the time of long work on the event loop among boxes: one slice at a time. */
export function createLoopTime(): FairQueue {
  return createFairQueue(
    { resource: 'event_loop', noun: 'time of the event loop' },
    { places: 1, mostOfOne: 1, waiting: 1_000, patience: 30_000, presence: 0, longestDebt: 500 },
  );
}

/** Returns the turns of a sharer. After each slice the event loop serves what has come meanwhile. */
export function loopTurns(queue: Pick<FairQueue, 'run'>, sharer: Sharer): LoopTurn {
  return (slice) =>
    queue.run(sharer, async () => {
      slice();
      await setImmediate();
    });
}
