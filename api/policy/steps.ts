/**
 * Steps that all rules of one decision may take together. A step is about a tenth of a microsecond of ordinary work and
 * never more than a few microseconds, so that no policy, however made, holds up the requests of others for long; ten
 * thousand ordinary rules on one client need a fraction of it.
 */
export const STEPS_PER_DECISION = 200_000;

/** Thrown when the steps of a decision are used up; the rule that took them does not grant. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';

  constructor() {
    super(`gave up: one decision may take ${STEPS_PER_DECISION} steps, and this rule went beyond them`);
  }
}

/** Counts the work of one decision. Every engine takes steps in proportion to what it is about to do. */
export class Steps {
  #left: number;

  constructor(allowed = STEPS_PER_DECISION) {
    this.#left = allowed;
  }

  /** Takes `count` steps (a part of one counts too). Throws {@link TooManySteps}, from then on every time. */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new TooManySteps();
  }
}
