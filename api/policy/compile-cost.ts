/**
 * Processor time that compiling one policy may take, in microseconds of the machine on which the costs were measured.
 * It is counted, not timed, so that every replica accepts the same policies.
 */
export const MOST_COMPILE_COST = 20_000;

/** Thrown for a rule that takes too long to compile. Its message follows the name of a field in a sentence. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';

  constructor() {
    super('takes too long to compile, with the rest of the policy: make the rule smaller, or split the policy');
  }
}

/** Adds up the costs of compiling one policy, all of its rules together. Each part is charged before it is compiled. */
export class CompileCost {
  #left = MOST_COMPILE_COST;

  /** Charges for a part of a policy. Throws {@link TooCostly}. */
  take(microseconds: number): void {
    this.#left -= microseconds;
    if (this.#left < 0) throw new TooCostly();
  }
}
