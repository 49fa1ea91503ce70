/**
 * Moments at which a plan ends a process: before a write is sent, after its answer, or while the answer is on its way.
 * With `connection cut` the process continues, and only its connection is cut while the answer is on its way.
 */
export const WAYS = ['before', 'after', 'answer lost', 'connection cut'] as const;

/** One of {@link WAYS}. */
export type Way = (typeof WAYS)[number];

/** Milliseconds that a process has to read the answer after which it is ended. */
export const READING_TIME = 3;

/** Ends a process at one of its writes. */
export interface Plan {
  /** A name as {@link WriteLog.writes} has it. */
  readonly write: string;
  readonly way: Way;
  /** Position among the recorded writes, from 1. */
  readonly place: number;
  /**
   * It is the write at that place that is meant, whatever its name: what is done at once is not always done in one
   * order.
   */
  readonly byPlace?: true;
}

/** A write that a proxy has received and not yet forwarded. */
export interface Write {
  /** Name of the write, without values that differ from run to run: `POST /boxes/shop/apply`. */
  readonly what: string;
  /** The box it is about; undefined where it is about none. */
  readonly box: string | undefined;
  /** Comes again and again, whatever is done: only the first is a write of a workload. */
  readonly isPeriodic?: true;
}

/** The writes of a workload in one box, as the proxies see them, and the plan that one of them may meet. */
export interface WriteLog {
  /** In their order; the second of its name is called `… #2`, and the box is called BOX in each. */
  readonly writes: readonly string[];
  /** True if the write of the plan has come. */
  readonly isMet: boolean;
  /** Forgets everything and listens to what is about this box, or about none. */
  begin(box: string, plan?: Plan): void;
  /** Hears of no write any more. */
  end(): void;
  /** A write wants to pass: the way in which its process is to end there, if it is. */
  meet(write: Write): Way | undefined;
}

/** A log that hears of nothing yet. */
export function createWriteLog(): WriteLog {
  let writes: string[] = [];
  let counts = new Map<string, number>();
  let box: string | undefined;
  let plan: Plan | undefined;
  let isMet = false;

  return {
    get writes() {
      return writes;
    },
    get isMet() {
      return isMet;
    },
    begin(ofBox, withPlan) {
      writes = [];
      counts = new Map();
      box = ofBox;
      plan = withPlan;
      isMet = false;
    },
    end() {
      box = undefined;
      plan = undefined;
    },
    meet(write) {
      if (box === undefined || (write.box !== undefined && write.box !== box)) return undefined;
      const what = write.what.replaceAll(box, 'BOX');
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      if (write.isPeriodic && count > 1) return undefined;
      const name = count === 1 ? what : `${what} #${String(count)}`;
      writes.push(name);
      if (isMet || plan === undefined) return undefined;
      if (plan.byPlace ? plan.place !== writes.length : plan.write !== name) return undefined;
      isMet = true;
      return plan.way;
    },
  };
}

/** All plans over recorded writes: each write, each way. */
export function plansOf(writes: readonly string[]): readonly Plan[] {
  return writes.flatMap((write, index) => WAYS.map((way) => ({ write, way, place: index + 1 })));
}
