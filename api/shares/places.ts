import type { Clock } from './clock.ts';
import { createFlows } from './flows.ts';
import type { Flow, FlowLimits, Flows } from './flows.ts';

/** A principal that wants part of a shared resource: a box and, in it, an address, client, account or kind of work. */
export interface Sharer {
  readonly box: string;
  readonly member: string;
}

/** The flows that a sharer's piece of work belongs to. `Piece` is a piece of work that waits in line. */
export interface Claim<Piece> {
  readonly box: Flow<Flows<Set<Piece>>>;
  readonly member: Flow<Set<Piece>>;
}

/** The places of a shared resource, and the boxes and members that hold one or wait for one. */
export interface Places<Piece> {
  readonly running: number;
  readonly waiting: number;
  /** The boxes that are remembered. */
  readonly boxes: Iterable<Flow<unknown>>;
  /** Adds a piece of work to those that wait. */
  enter(sharer: Sharer): Claim<Piece>;
  /** Removes a piece of work that waited in vain. */
  leave(claim: Claim<Piece>): void;
  /** Gives a place to a piece that waits, and returns the time at which it starts. */
  start(claim: Claim<Piece>): number;
  /** Frees the place of a piece that started at `started`. */
  end(claim: Claim<Piece>, started: number): void;
  /** Checks whether a piece that has just entered may start before everything in line. */
  isFree(claim: Claim<Piece>): boolean;
  /** Returns the first piece in line that may start; undefined if none may, or no place is free. */
  next(): Piece | undefined;
  /** Returns the box and member with the most waiting work, of equal ones those of `newcomer`. */
  longest(newcomer: Claim<Piece>): Claim<Piece>;
  /** Checks whether no other box and member is remembered. */
  isAlone(claim: Claim<Piece>): boolean;
}

/** Creates `count` free places. */
export function createPlaces<Piece>(
  count: number,
  limits: FlowLimits & { readonly ofMember?: Partial<FlowLimits> },
  clock: Clock,
): Places<Piece> {
  const ofMember = { ...limits, isAnyBeside: undefined, ...limits.ofMember };
  const hasReady = (members: Flows<Set<Piece>>, now: number): boolean => members.next(now) !== undefined;
  const createMembers = (): Flows<Set<Piece>> =>
    createFlows(
      () => new Set<Piece>(),
      () => true,
      ofMember,
    );
  const boxes = createFlows(createMembers, hasReady, limits);
  let running = 0;
  let waiting = 0;

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    boxes,
    enter(sharer) {
      const now = clock.now();
      const box = boxes.of(sharer.box);
      const member = box.line.of(sharer.member);
      waiting += 1;
      boxes.wait(box, now);
      box.line.wait(member, now);
      return { box, member };
    },
    leave({ box, member }) {
      waiting -= 1;
      box.line.leave(member);
      boxes.leave(box);
    },
    start({ box, member }) {
      const now = clock.now();
      waiting -= 1;
      running += 1;
      boxes.start(box, now);
      box.line.start(member, now);
      return now;
    },
    end({ box, member }, started) {
      const now = clock.now();
      running -= 1;
      box.line.end(member, started, now);
      boxes.end(box, started, now);
    },
    isFree({ box, member }) {
      const now = clock.now();
      return running < count && box.waiting === 1 && boxes.mayStart(box, now) && box.line.mayStart(member, now);
    },
    next() {
      if (running >= count) return undefined;
      const now = clock.now();
      return boxes.next(now)?.line.next(now)?.line.values().next().value;
    },
    longest(newcomer) {
      const box = boxes.longest(newcomer.box);
      const [first = newcomer.member] = box.line;
      return { box, member: box.line.longest(box === newcomer.box ? newcomer.member : first) };
    },
    isAlone: ({ box }) => boxes.size === 1 && box.line.size === 1,
  };
}
