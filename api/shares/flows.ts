/**
 * A flow of work that shares places with others: a box, or a member of a box. `Line` is the part of the waiting line
 * that belongs to it.
 */
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
  /** Checks whether a flow has company that has no work here; without it, only flows with work here are company. */
  readonly isAnyBeside?: ((key: string) => boolean) | undefined;
  /** Pieces of work that one flow may run even while it is alone; without it, any number. */
  readonly mostAlone?: number;
  /**
   * Milliseconds for which a flow remains present after its last piece of work: one that asks for little, a piece after
   * the other, must find a place each time.
   */
  readonly presence: number;
  /** Milliseconds of earlier work by which the next piece of the same flow is delayed at most. */
  readonly longestDebt: number;
}

/** Flows that take turns by start-time fair queueing (Goyal, Vin and Cheng, 1996). */
export interface Flows<Line> {
  /** Flows that have work waiting or running, and those that are remembered for the work they had. */
  readonly size: number;
  /** Returns the flow with a key; one that is not remembered starts at the present virtual time. */
  of(key: string): Flow<Line>;
  /** Adds one piece of work to those that wait. */
  wait(flow: Flow<Line>, now: number): void;
  /** Removes one piece that waited in vain. */
  leave(flow: Flow<Line>): void;
  /** Starts one of the pieces that wait. */
  start(flow: Flow<Line>, now: number): void;
  /** Ends one piece of work that started at `started`, and charges its time to the flow. */
  end(flow: Flow<Line>, started: number, now: number): void;
  /** Checks whether a flow may start one more piece of work. */
  mayStart(flow: Flow<Line>, now: number): boolean;
  /** Returns the waiting flow that got least service so far and may start a piece; undefined when none may. */
  next(now: number): Flow<Line> | undefined;
  /** Returns the flow with the most waiting pieces, of equal ones `newcomer`. */
  longest(newcomer: Flow<Line>): Flow<Line>;
  [Symbol.iterator](): Iterator<Flow<Line>>;
}

/** The least charge for a piece of work, in milliseconds: work that costs nothing measurable must not hold its turn. */
const leastCharge = 0.05;

/** Idle flows remembered while others work: beyond it the one that has been idle longest is forgotten. */
const mostRemembered = 1_000;

const newFlow = { waiting: 0, running: 0, starts: 0, endedAt: -Infinity };

/**
 * Creates an empty set of flows, which are forgotten when nothing is left to do. `isReady` checks whether anything in
 * the line of a flow may start.
 */
export function createFlows<Line>(
  createLine: () => Line,
  isReady: (line: Line, now: number) => boolean,
  { mostOfOne, mostAlone = Infinity, presence, longestDebt, isAnyBeside = () => false }: FlowLimits,
): Flows<Line> {
  const flows = new Map<string, Flow<Line>>();
  let virtual = 0;
  let pieces = 0;

  function of(key: string): Flow<Line> {
    const known = flows.get(key);
    if (known !== undefined) return known;
    const flow = { ...newFlow, key, line: createLine(), charged: virtual, latest: virtual };
    flows.set(key, flow);
    return flow;
  }

  /** Places the flow's next piece of work on the virtual time: not before the present, and not too far after it. */
  function place(flow: Flow<Line>, now: number): void {
    flow.charged = Math.max(flow.charged, virtual - ageOf(flow, now));
    flow.latest = virtual + longestDebt;
  }

  function forgetIdle(flow: Flow<Line>): void {
    if (flow.waiting + flow.running > 0) return;
    if (pieces === 0) {
      flows.clear();
      virtual = 0;
      return;
    }
    // Moves the flow to the end: flows are ordered by the times at which they became idle.
    flows.delete(flow.key);
    flows.set(flow.key, flow);
    if (flows.size > mostRemembered) forgetOldest(flows);
  }

  function mayStart(flow: Flow<Line>, now: number): boolean {
    if (flow.running < mostOfOne) return true;
    if (flow.running >= mostAlone) return false;
    for (const other of flows.values()) if (other !== flow && isPresent(other, now, presence)) return false;
    return !isAnyBeside(flow.key);
  }

  return {
    get size() {
      return flows.size;
    },
    of,
    wait(flow, now) {
      if (flow.waiting === 0) place(flow, now);
      flow.waiting += 1;
      pieces += 1;
    },
    leave(flow) {
      flow.waiting -= 1;
      pieces -= 1;
      forgetIdle(flow);
    },
    start(flow, now) {
      virtual = Math.max(virtual, earliestTurn(flows, now));
      flow.latest = virtual + longestDebt;
      flow.waiting -= 1;
      flow.running += 1;
      flow.starts += now;
    },
    end(flow, started, now) {
      flow.running -= 1;
      flow.starts = flow.running === 0 ? 0 : flow.starts - started;
      flow.endedAt = now;
      flow.charged = Math.min(flow.charged + Math.max(leastCharge, now - started), virtual + longestDebt);
      pieces -= 1;
      forgetIdle(flow);
    },
    mayStart,
    next(now) {
      let best: Flow<Line> | undefined;
      for (const flow of flows.values()) {
        const isFirst = flow.waiting > 0 && (best === undefined || isBefore(flow, best, now));
        if (isFirst && mayStart(flow, now) && isReady(flow.line, now)) best = flow;
      }
      return best;
    },
    longest(newcomer) {
      let longest = newcomer;
      for (const flow of flows.values()) if (flow.waiting > longest.waiting) longest = flow;
      return longest;
    },
    [Symbol.iterator]: () => flows.values(),
  };
}

function forgetOldest(flows: Map<string, Flow<unknown>>): void {
  for (const { key, waiting, running } of flows.values()) {
    if (waiting + running > 0) continue;
    flows.delete(key);
    return;
  }
}

function isPresent({ waiting, running, endedAt }: Flow<unknown>, now: number, presence: number): boolean {
  return waiting + running > 0 || now - endedAt < presence;
}

/** Milliseconds for which the running work of a flow has run so far, all pieces together. */
function ageOf({ running, starts }: Flow<unknown>, now: number): number {
  return running === 0 ? 0 : running * now - starts;
}

/** The virtual time of the flow with work that got least: one that returns must neither be before nor behind it. */
function earliestTurn(flows: ReadonlyMap<string, Flow<unknown>>, now: number): number {
  let earliest = Infinity;
  for (const flow of flows.values()) {
    if (flow.waiting + flow.running > 0) earliest = Math.min(earliest, turnOf(flow, now));
  }
  return earliest;
}

/** The virtual time at which the next piece of a flow has its turn. */
function turnOf(flow: Flow<unknown>, now: number): number {
  return Math.min(flow.charged + ageOf(flow, now), flow.latest);
}

function isBefore(flow: Flow<unknown>, other: Flow<unknown>, now: number): boolean {
  const [turn, otherTurn] = [turnOf(flow, now), turnOf(other, now)];
  return turn === otherTurn ? flow.running < other.running : turn < otherTurn;
}
