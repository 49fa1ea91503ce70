/**
 * Steps that all rules of one decision may take together. A step is about a tenth of a microsecond of ordinary work.
 * Ten thousand ordinary rules on one client need a fraction of them.
 */
export const STEPS_PER_DECISION = 200_000;

/**
 * Processor time that all rules of one decision may take together, in milliseconds. It is less than the 20 ms for which
 * a request may hold the event loop, because a rule stops a little after its time.
 */
export const MILLISECONDS_PER_DECISION = 15;

/** The fault of a rule that wants more than the steps or the time of its decision. */
export const GAVE_UP =
  `gave up: one decision may take ${String(STEPS_PER_DECISION)} steps and ` +
  `${String(MILLISECONDS_PER_DECISION)} ms, and this rule went beyond them`;

/** Thrown when the steps or the time of a decision are used up; the rule that wanted more does not grant. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';

  constructor() {
    super(GAVE_UP);
  }
}

/**
 * Bounds the work of one decision by counted steps and by measured time. Every engine takes steps in proportion to the
 * work that follows. The clock is read each time that {@link STEPS_PER_LOOK} steps were taken, so that most decisions
 * never read it.
 */
export class Steps {
  readonly #startTimer: () => Timer;
  #timer: Timer | undefined;
  #left: number;
  #sinceLook = 0;
  #isOutOfTime = false;

  constructor(allowed = STEPS_PER_DECISION, startTimer: () => Timer = startThreadTimer) {
    this.#left = allowed;
    this.#startTimer = startTimer;
  }

  /** True if the steps or the time are used up: {@link take} throws from now on. */
  get isUsedUp(): boolean {
    return this.#left < 0;
  }

  /** True if the time was used up, not the steps: the same work may take less when it is done again. */
  get isOutOfTime(): boolean {
    return this.#isOutOfTime;
  }

  /** Takes `count` steps, also a part of one or none. Throws {@link TooManySteps}, from then on every time. */
  take(count: number): void {
    this.#left -= count;
    this.#sinceLook += count + STEPS_PER_CALL;
    if (this.#sinceLook >= STEPS_PER_LOOK) this.#look();
    if (this.#left < 0) throw new TooManySteps();
  }

  /** Notes work that takes time but no steps, so that the clock is read regularly. Never throws. */
  pass(): void {
    this.#sinceLook += STEPS_PER_CALL;
    if (this.#sinceLook >= STEPS_PER_LOOK) this.#look();
  }

  /** Reads the clock, which runs since the first reading. Throws {@link TooManySteps}, from then on every time. */
  checkTime(): void {
    this.#look();
    this.take(0);
  }

  #look(): void {
    this.#sinceLook = 0;
    this.#timer ??= this.#startTimer();
    if (!this.#timer.isOver(MILLISECONDS_PER_DECISION)) return;
    this.#left = -1;
    this.#isOutOfTime = true;
  }
}

const STEPS_PER_LOOK = 128;
/** Added to what a call takes when the clock is due: a loop that takes no steps reads it, too. */
const STEPS_PER_CALL = 1 / 4;

/** A measurement of the processor time that this thread has used since it began. */
interface Timer {
  /** Checks whether at least so many milliseconds of processor time have been used. */
  readonly isOver: (milliseconds: number) => boolean;
}

/**
 * Starts a timer. It measures processor time, so that a process that the system has paused denies nothing. Reading that
 * takes 2 microseconds, so the wall clock, which takes a thirtieth and is never behind, is read first.
 */
export function startThreadTimer(): Timer {
  const began = performance.now();
  const used = process.threadCpuUsage();
  return {
    isOver(milliseconds) {
      if (performance.now() - began < milliseconds) return false;
      const { user, system } = process.threadCpuUsage(used);
      return (user + system) / 1000 >= milliseconds;
    },
  };
}
