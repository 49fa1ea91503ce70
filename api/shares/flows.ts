/** A flow of work that shares places with others: a box, or a member of a box. `Line` is its part of those who wait. */
export interface Flow<Line> {
  readonly key: string;
  readonly line: Line;
  /** Pieces of work that wait. */
  waiting: number;
  /** Pieces of work that hold a place. */
  running: number;
  /** Milliseconds of work that has ended, on the virtual time of its {@link Flows}. */
  charged: number;
  /** Sum of the times at which the running work started, so that its age costs no loop. */
  starts: number;
  /** The virtual time at which the first waiting piece has its turn at the latest. */
  latest: number;
  /** Time at which its last piece of work ended. */
  endedAt: number;
}

/** The limits that keep one flow from taking the share of others. */
export interface FlowLimits {
  /** Pieces of work that one flow may run while another one is present; at least 1. */
  readonly mostOfOne: number;
  /** True if a flow that is alone may not run more either. */
  readonly isFixed?: boolean;
  /** Checks whether a flow has company that has no work here; without it, only flows with work here are company. */
  readonly isAnyBeside?: ((key: string) => boolean) | undefined;
}

/**
 * Milliseconds for which a flow remains present after its last piece of work: one that asks for little, a piece after
 * the other, must find a place each time.
 */
const presence = 1_000;

/** Milliseconds of earlier work by which the next piece of the same flow is delayed at most. */
const longestDebt = 500;

/** The least charge for a piece of work, in milliseconds: work that costs nothing measurable must not hold its turn. */
const leastCharge = 0.05;

/** Idle flows remembered while others work: beyond it the one that has been idle longest is forgotten. */
const mostRemembered = 1_000;

/** Flows that take turns by start-time fair queueing (Goyal, Vin and Cheng, 1996). Times in milliseconds. */
export class Flows<Line> {
  readonly #flows = new Map<string, Flow<Line>>();
  readonly #createLine: () => Line;
  readonly #limits: FlowLimits;
  #virtual = 0;
  #pieces = 0;

  constructor(createLine: () => Line, limits: FlowLimits) {
    this.#createLine = createLine;
    this.#limits = limits;
  }

  /** Flows that have work waiting or running, and those that are remembered for the work they had. */
  get size(): number {
    return this.#flows.size;
  }

  [Symbol.iterator](): Iterator<Flow<Line>> {
    return this.#flows.values();
  }

  /** Adds one piece of work to those that wait, and returns its flow. */
  wait(key: string, now: number): Flow<Line> {
    const virtual = this.#virtual;
    const flow = this.#flows.get(key) ?? { ...newFlow, key, line: this.#createLine(), charged: virtual, latest: 0 };
    this.#flows.set(key, flow);
    if (flow.waiting === 0) {
      // Its next piece has its turn not before the present, and not too far after it.
      flow.charged = Math.max(flow.charged, virtual - ageOf(flow, now));
      flow.latest = virtual + longestDebt;
    }
    flow.waiting += 1;
    this.#pieces += 1;
    return flow;
  }

  /** Removes one piece that waited in vain. */
  leave(flow: Flow<Line>): void {
    flow.waiting -= 1;
    this.#forgetIdle(flow);
  }

  /** Starts one of the pieces that wait. */
  start(flow: Flow<Line>, now: number): void {
    this.#virtual = Math.max(this.#virtual, this.#earliestTurn(now));
    flow.latest = this.#virtual + longestDebt;
    flow.waiting -= 1;
    flow.running += 1;
    flow.starts += now;
  }

  /** Ends one piece of work that started at `started`, and charges its time to the flow. */
  end(flow: Flow<Line>, started: number, now: number): void {
    flow.running -= 1;
    flow.starts = flow.running === 0 ? 0 : flow.starts - started;
    flow.endedAt = now;
    flow.charged = Math.min(flow.charged + Math.max(leastCharge, now - started), this.#virtual + longestDebt);
    this.#forgetIdle(flow);
  }

  /** Checks whether a flow may start one more piece of work. */
  mayStart(flow: Flow<Line>, now: number): boolean {
    const { mostOfOne, isFixed = false, isAnyBeside } = this.#limits;
    if (flow.running < mostOfOne) return true;
    if (isFixed) return false;
    for (const other of this) if (other !== flow && isPresent(other, now)) return false;
    return isAnyBeside?.(flow.key) !== true;
  }

  /** Returns the waiting flow that got least service so far and may start a piece; undefined when none may. */
  next(now: number, isReady: (line: Line) => boolean = () => true): Flow<Line> | undefined {
    let best: Flow<Line> | undefined;
    for (const flow of this) {
      const isFirst = flow.waiting > 0 && (best === undefined || isBefore(flow, best, now));
      if (isFirst && this.mayStart(flow, now) && isReady(flow.line)) best = flow;
    }
    return best;
  }

  /** Returns the flow with the most waiting pieces, of equal ones `newcomer`. */
  longest(newcomer: Flow<Line>): Flow<Line> {
    let longest = newcomer;
    for (const flow of this) if (flow.waiting > longest.waiting) longest = flow;
    return longest;
  }

  #forgetIdle(flow: Flow<Line>): void {
    this.#pieces -= 1;
    if (flow.waiting + flow.running > 0) return;
    if (this.#pieces === 0) {
      this.#flows.clear();
      this.#virtual = 0;
      return;
    }
    // Moves the flow to the end: flows are ordered by the times at which they became idle.
    this.#flows.delete(flow.key);
    this.#flows.set(flow.key, flow);
    if (this.#flows.size <= mostRemembered) return;
    const oldest = [...this].find(({ waiting, running }) => waiting + running === 0);
    if (oldest !== undefined) this.#flows.delete(oldest.key);
  }

  /** Returns the virtual time of the flow with work that got least: one that returns is not before or behind it. */
  #earliestTurn(now: number): number {
    let earliest = Infinity;
    for (const flow of this) if (flow.waiting + flow.running > 0) earliest = Math.min(earliest, turnOf(flow, now));
    return earliest;
  }
}

const newFlow = { waiting: 0, running: 0, starts: 0, endedAt: -Infinity };

function isPresent({ waiting, running, endedAt }: Flow<unknown>, now: number): boolean {
  return waiting + running > 0 || now - endedAt < presence;
}

/** Returns the milliseconds for which the running work of a flow has run so far, all pieces together. */
function ageOf({ running, starts }: Flow<unknown>, now: number): number {
  return running === 0 ? 0 : running * now - starts;
}

/** Returns the virtual time at which the next piece of a flow has its turn. */
function turnOf(flow: Flow<unknown>, now: number): number {
  return Math.min(flow.charged + ageOf(flow, now), flow.latest);
}

function isBefore(flow: Flow<unknown>, other: Flow<unknown>, now: number): boolean {
  const [turn, otherTurn] = [turnOf(flow, now), turnOf(other, now)];
  return turn === otherTurn ? flow.running < other.running : turn < otherTurn;
}
