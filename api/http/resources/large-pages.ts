import { setTimeout as sleep } from 'node:timers/promises';
import { createFairQueue } from '../../shares/fair-queue.ts';
import type { FairQueue } from '../../shares/fair-queue.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import type { Sharer } from '../../shares/places.ts';

/** Rows from which a page is large: a thousand sessions take 10 ms of Postgres and as much of the event loop. */
const largeFrom = 101;

/** Creates the queue of large pages: each box reads one after the other. */
export function createLargePages(): FairQueue {
  return createFairQueue(
    { resource: 'large_pages', noun: 'a large page' },
    { places: 100, mostOfOne: 1, mostAlone: 1, waiting: 5_000, patience: 1_500, presence: 0, longestDebt: 500 },
  );
}

/** The queue of large pages, and the requests in flight. */
export interface PageParts {
  readonly largePages: Pick<FairQueue, 'run'>;
  readonly inFlight: Pick<InFlight, 'isAnyBeside'>;
}

/**
 * Runs the work of a request, in the turn of its box if it requests a large page while other boxes are served: one
 * after the other, and after each the box pauses for as long as it took. Throws Problem `throttled` if it would wait
 * too long, and any error of the work.
 */
export function inPageTurn<T>(
  { largePages, inFlight }: PageParts,
  sharer: Sharer,
  query: URLSearchParams,
  work: () => Promise<T>,
): Promise<T> {
  const isLarge = Number(query.get('_count')) >= largeFrom;
  if (!isLarge || !inFlight.isAnyBeside(sharer.box)) return work();
  return new Promise((resolve, reject) => {
    const turn = async (): Promise<void> => {
      const begun = performance.now();
      await work().then(resolve, reject);
      await sleep(performance.now() - begun);
    };
    largePages.run(sharer, turn).catch(reject);
  });
}
