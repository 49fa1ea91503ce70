import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { createFairQueue } from '../../shares/fair-queue.ts';
import type { FairQueue } from '../../shares/fair-queue.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import type { Sharer } from '../../shares/places.ts';
import type { Turn } from '../../../program/scheduling.ts';

/** Creates the queue that divides the time of long work on the event loop among boxes: one slice at a time. */
export function createLoopTime(): FairQueue {
  return createFairQueue(
    { resource: 'event_loop', noun: 'time of the event loop' },
    { places: 1, mostOfOne: 1, waiting: 1_000, patience: 30_000, presence: 0, longestDebt: 500 },
  );
}

/** The queue of long work on the event loop, and the requests in flight. */
export interface LoopParts {
  readonly loopTime: Pick<FairQueue, 'run'>;
  readonly inFlight: Pick<InFlight, 'isAnyBeside'>;
}

/**
 * Returns the turns of a sharer. After each slice the event loop serves requests that have arrived. While requests of
 * other boxes are being served it pauses three times as long as the slice took: a short request passes the event loop
 * several times, and would meet a slice each time.
 */
export function loopTurns({ loopTime, inFlight }: LoopParts, sharer: Sharer): Turn {
  return (slice) =>
    loopTime.run(sharer, async () => {
      const begun = performance.now();
      slice();
      const took = performance.now() - begun;
      await setImmediate();
      if (inFlight.isAnyBeside(sharer.box)) await sleep(rest * took);
    });
}

/** Long work gets a quarter of the event loop: with half, others' 99th percentile missed the bar of `make attacks`. */
const rest = 3;
