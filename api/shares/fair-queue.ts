import { Outage } from '../db/core/outage.ts';
import { processClock } from './clock.ts';
import type { Clock } from './clock.ts';
import type { FlowLimits } from './flows.ts';
import { createPlaces } from './places.ts';
import type { Claim, Sharer } from './places.ts';
import { createRefusalCount } from './resource-use.ts';
import type { ResourceUse } from './resource-use.ts';
import { Problem } from '../problem.ts';

/** Seconds after which a sharer that used up its share may try again. */
const retryAfter = '1';

/** Creates the Problem `throttled` (429 with Retry-After) of a box that wants more than its share of `noun`. */
export function shareUsedUp(noun: string): Problem {
  const message = `Too many requests of this box wait for ${noun}. Try again in ${retryAfter} s`;
  return new Problem('throttled', message, { 'Retry-After': retryAfter });
}

/** The names of a shared resource. */
export interface ResourceName {
  /** Name in metrics, such as `database`. */
  readonly resource: string;
  /** Name in sentences, such as `a connection to the database`. */
  readonly noun: string;
}

/** The limits of a {@link FairQueue}. */
export interface FairQueueLimits extends FlowLimits {
  /** Pieces of work that run at once. */
  readonly places: number;
  /** Pieces of work that wait, all together. */
  readonly waiting: number;
  /** Other limits for the members of a box than for boxes. */
  readonly ofMember?: Partial<FlowLimits>;
  /** Milliseconds that a piece of work waits, unless its caller says otherwise. */
  readonly patience: number;
}

/** A queue for one shared resource that divides its time fairly; see {@link createFairQueue}. */
export interface FairQueue extends ResourceUse {
  /**
   * Runs work when its turn comes, at once if a place is free. Throws Problem `throttled` when its own box or member is
   * the reason why it cannot wait any longer, and Outage when it is not; otherwise the error of the work.
   */
  run<T>(sharer: Sharer, work: () => Promise<T>, patience?: number): Promise<T>;
  /** Pieces of work that run or wait. */
  readonly depth: number;
}

/** A piece of work in line. */
interface Waiting {
  readonly start: () => void;
  readonly giveUp: (error: Error) => void;
}

/**
 * Creates a queue that serves boxes by start-time fair queueing over the time that their work took, and the members of
 * a box likewise. A box alone may use every place. When the line is too long, the box and member with the most waiting
 * work lose their youngest piece.
 */
export function createFairQueue(
  { resource, noun }: ResourceName,
  limits: FairQueueLimits,
  clock: Clock = processClock,
): FairQueue {
  const places = createPlaces<Waiting>(limits.places, limits, clock);
  const refusals = createRefusalCount();

  function startNext(): void {
    for (let next = places.next(); next !== undefined; next = places.next()) next.start();
  }

  /** Waits for a place, and returns the time at which the work starts. */
  function turn(claim: Claim<Waiting>, patience: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        cancel();
        claim.member.line.delete(piece);
      };
      const piece: Waiting = {
        start() {
          leaveLine();
          resolve(places.start(claim));
        },
        giveUp(error) {
          leaveLine();
          places.leave(claim);
          refusals.add(claim.box.key);
          reject(error);
        },
      };
      const cancel = clock.schedule(patience, () => {
        // It waited behind work of its own box if that ran meanwhile.
        piece.giveUp(refusal(claim, claim.box.running > 0));
      });
      claim.member.line.add(piece);
      startNext();
      if (places.waiting > limits.waiting) shorten(claim);
    });
  }

  /** Takes the youngest piece of the longest line out of it. */
  function shorten(newcomer: Claim<Waiting>): void {
    const longest = places.longest(newcomer);
    [...longest.member.line].at(-1)?.giveUp(refusal(longest, true));
  }

  /**
   * Returns the error of a piece that is refused: 429 if its own box is the reason, and others are there or it would be
   * limited without them too.
   */
  function refusal(claim: Claim<Waiting>, isOwnFault: boolean): Error {
    const isLimited = limits.mostAlone !== undefined || !places.isAlone(claim);
    if (isOwnFault && isLimited) return shareUsedUp(noun);
    return new Outage(`too much work waits for ${noun}`);
  }

  return {
    resource,
    get depth() {
      return places.running + places.waiting;
    },
    uses: () => [...places.boxes].map(({ key, running, waiting }) => ({ box: key, used: running, waiting })),
    refusals: () => refusals.byBox,
    async run(sharer, work, patience = limits.patience) {
      const claim = places.enter(sharer);
      const started = places.isFree(claim) ? places.start(claim) : await turn(claim, patience);
      try {
        return await work();
      } finally {
        places.end(claim, started);
        startNext();
      }
    },
  };
}
