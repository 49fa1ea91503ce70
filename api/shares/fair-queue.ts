import { schedule } from '../../program/scheduling.ts';
import { Outage } from '../db/core/outage.ts';
import { Problem } from '../problem.ts';
import { Flows } from './flows.ts';
import type { Flow, FlowLimits } from './flows.ts';
import { createRefusalCount } from './resource-use.ts';
import type { ResourceUse } from './resource-use.ts';

/** Milliseconds of a rest at most: work that waited for Postgres held no event loop, and others must not be refused. */
const longestRest = 1_000;

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
  /** Pieces of work of one member of a box that run at once, if others than of a box. */
  readonly mostOfMember?: number;
  /** While others are there, a place stays taken after work for so many times as long, up to a second; 0 if absent. */
  readonly rest?: number;
  /** Pieces of work that wait, all together. */
  readonly waiting: number;
  /** Milliseconds that a piece of work waits, unless its caller says otherwise. */
  readonly patience: number;
}

/** A principal that wants part of a shared resource: a box and, in it, an address, client, account or kind of work. */
export interface Sharer {
  readonly box: string;
  readonly member: string;
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

/** A clock that only moves forward, in milliseconds, and callbacks at a later time of it. */
export interface Clock {
  now(): number;
  /** Calls back after `wait` milliseconds, unless the returned function is called first. */
  schedule(wait: number, callback: () => void): () => void;
}

/** A piece of work in line. */
interface Waiting {
  readonly start: () => void;
  readonly giveUp: (error: Error) => void;
}

type Members = Flows<Set<Waiting>>;

/** The flows that a piece of work belongs to. */
interface Claim {
  readonly box: Flow<Members>;
  readonly member: Flow<Set<Waiting>>;
}

/**
 * Creates a queue that serves boxes by start-time fair queueing over the time that their work took, and the members of
 * a box likewise. A box alone may use every place. When the line is too long, the box and member with the most waiting
 * work lose their youngest piece.
 */
export function createFairQueue(
  { resource, noun }: ResourceName,
  limits: FairQueueLimits,
  clock: Clock = { now: () => performance.now(), schedule },
): FairQueue {
  const places = new Places(limits, clock);
  const refusals = createRefusalCount();

  function startNext(): void {
    for (let next = places.next(); next !== undefined; next = places.next()) next.start();
  }

  /** Waits for a place, and returns the time at which the work starts. */
  function turn(claim: Claim, patience: number): Promise<number> {
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
  function shorten(newcomer: Claim): void {
    const longest = places.longest(newcomer);
    [...longest.member.line].at(-1)?.giveUp(refusal(longest, true));
  }

  /**
   * Returns the error of a piece that is refused: 429 if its own box is the reason, and others are there or it would be
   * limited without them too.
   */
  function refusal({ box }: Claim, isOwnFault: boolean): Error {
    const isAlone = places.boxes.size === 1 && box.line.size === 1 && limits.isAnyBeside?.(box.key) !== true;
    if (isOwnFault && (limits.isFixed === true || !isAlone)) return shareUsedUp(noun);
    return new Outage(`too much work waits for ${noun}`);
  }

  return {
    resource,
    get depth() {
      return places.running + places.waiting;
    },
    uses: () =>
      Array.from(places.boxes, ({ key, running: used, waiting: inLine }) => ({ box: key, used, waiting: inLine })),
    refusals: () => refusals.byBox,
    async run(sharer, work, patience = limits.patience) {
      const claim = places.enter(sharer);
      const started = places.isFree(claim) ? places.start(claim) : await turn(claim, patience);
      const leave = (): void => {
        places.end(claim, started);
        startNext();
      };
      try {
        return await work();
      } finally {
        const { isAnyBeside, rest = 0 } = limits;
        const pause = Math.min(longestRest, rest * (clock.now() - started));
        if (rest > 0 && isAnyBeside?.(sharer.box) === true) clock.schedule(pause, leave);
        else leave();
      }
    },
  };
}

/** The places of a shared resource, and the boxes and members that hold one or wait for one. */
class Places {
  readonly boxes: Flows<Members>;
  running = 0;
  waiting = 0;
  readonly #count: number;
  readonly #clock: Clock;

  constructor(limits: FairQueueLimits, clock: Clock) {
    const ofMember = { ...limits, mostOfOne: limits.mostOfMember ?? limits.mostOfOne, isAnyBeside: undefined };
    this.boxes = new Flows<Members>(() => new Flows(() => new Set<Waiting>(), ofMember), limits);
    this.#count = limits.places;
    this.#clock = clock;
  }

  /** Adds a piece of work to those that wait. */
  enter(sharer: Sharer): Claim {
    const now = this.#clock.now();
    this.waiting += 1;
    const box = this.boxes.wait(sharer.box, now);
    return { box, member: box.line.wait(sharer.member, now) };
  }

  /** Removes a piece of work that waited in vain. */
  leave({ box, member }: Claim): void {
    this.waiting -= 1;
    box.line.leave(member);
    this.boxes.leave(box);
  }

  /** Checks whether a piece that has just entered may start before everything in line. */
  isFree({ box, member }: Claim): boolean {
    const now = this.#clock.now();
    if (this.running >= this.#count || box.waiting > 1) return false;
    return this.boxes.mayStart(box, now) && box.line.mayStart(member, now);
  }

  /** Gives a place to a piece that waits, and returns the time at which it starts. */
  start({ box, member }: Claim): number {
    const now = this.#clock.now();
    this.waiting -= 1;
    this.running += 1;
    this.boxes.start(box, now);
    box.line.start(member, now);
    return now;
  }

  /** Frees the place of a piece that started at `started`. */
  end({ box, member }: Claim, started: number): void {
    const now = this.#clock.now();
    this.running -= 1;
    box.line.end(member, started, now);
    this.boxes.end(box, started, now);
  }

  /** Returns the first piece in line that may start; undefined if none may, or no place is free. */
  next(): Waiting | undefined {
    if (this.running >= this.#count) return undefined;
    const now = this.#clock.now();
    const members = this.boxes.next(now, (line) => line.next(now) !== undefined)?.line;
    return members?.next(now)?.line.values().next().value;
  }

  /** Returns the box and member with the most waiting work, of equal ones those of `newcomer`. */
  longest(newcomer: Claim): Claim {
    const box = this.boxes.longest(newcomer.box);
    const [first = newcomer.member] = box.line;
    return { box, member: box.line.longest(box === newcomer.box ? newcomer.member : first) };
  }
}
