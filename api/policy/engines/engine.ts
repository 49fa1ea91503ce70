import type { RequestObject } from '../request-object.ts';
import type { Steps } from '../steps.ts';

/**
 * Processor time that compiling one policy may take, in microseconds of the machine on which the costs were measured.
 * It is counted, not timed, so that every replica accepts the same policies.
 */
export const MOST_COMPILE_COST = 20_000;

/** Thrown for a rule that takes too long to compile. Its message follows the name of a field in a sentence. */
class TooCostly extends Error {
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

/** Reason why a rule cannot be compiled: the field, as a dotted path of the policy, and its fault. */
export class PolicyFault extends Error {
  override readonly name = 'PolicyFault';
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }

  /** Returns the same fault for a rule that is part of another: `within('and[1]')`. */
  within(parent: string): PolicyFault {
    return new PolicyFault(`${parent}.${this.path}`, this.reason);
  }
}

/** Compiles the rule in a field; one that nests so deep that the stack ends is a fault of that field like any other. */
export function compileField<T>(field: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof TooCostly) throw new PolicyFault(field, error.message);
    throw error instanceof RangeError ? new PolicyFault(field, 'nests too deeply') : error;
  }
}

/**
 * A compiled rule: true grants. It may throw; the caller treats that as false, so that a rule that fails denies. It
 * takes `steps` in proportion to its work.
 */
export type Rule = (request: RequestObject, steps: Steps) => boolean;

/** The fields of a policy, or of one rule of `complex`, as they are stored: an engine trusts none of their types. */
export interface RuleFields {
  readonly engine: unknown;
  readonly schema?: unknown;
  readonly matcho?: unknown;
  readonly expression?: unknown;
  readonly and?: unknown;
  readonly or?: unknown;
}

/** Compiles the rule of an engine. Throws {@link PolicyFault} for one that cannot be used, or is beyond the `cost`. */
export type CompileRule = (fields: RuleFields, cost: CompileCost) => Rule;

/** Thrown by a rule whose policy must not grant, whatever its other rules decide. */
export class PolicyEnded extends Error {
  override readonly name = 'PolicyEnded';
}
