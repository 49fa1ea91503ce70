import type { Connections } from './db/core/pool.ts';
import { createFairQueue } from './shares/fair-queue.ts';
import type { FairQueue, FairQueueLimits } from './shares/fair-queue.ts';
import type { InFlight } from './shares/in-flight.ts';

/** The queues in which boxes wait for the connections of a pool. */
export interface ConnectionQueues {
  /** Queue of every transaction of a box. */
  readonly all: FairQueue;
  /** Queue before that one, for transactions of many seconds, such as an apply: they never hold every connection. */
  readonly long: FairQueue;
}

/** Milliseconds from which a transaction is a long one. */
const longFrom = 10_000;

/**
 * Creates the queues for a pool with this number of connections. A box is not alone while requests of others are
 * answered (`inFlight`), even if those need none of these connections: tokens and checks have their own, and want the
 * same processors.
 */
export function createConnectionQueues(connections: number, inFlight: Pick<InFlight, 'isAnyBeside'>): ConnectionQueues {
  const half = Math.max(1, Math.floor(connections / 2));
  const limits: Omit<FairQueueLimits, 'places'> = {
    mostOfOne: half,
    waiting: 5_000,
    patience: 1_500,
    isAnyBeside: inFlight.isAnyBeside,
  };
  const noun = 'a connection to the database';
  return {
    all: createFairQueue({ resource: 'connections', noun }, { ...limits, places: connections }),
    long: createFairQueue({ resource: 'long_transactions', noun }, { ...limits, mostOfOne: 1, places: half }),
  };
}

/** Divides the connections of a pool among boxes. */
export function sharedConnections(pool: Connections, { all, long }: ConnectionQueues): Connections {
  return {
    connect: () => pool.connect(),
    turns(box, patience, work) {
      const sharer = { box, member: '' };
      const run = () => all.run(sharer, work, patience);
      return patience < longFrom * 0.9 ? run() : long.run(sharer, run, patience);
    },
  };
}
