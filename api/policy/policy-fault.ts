import { TooCostly } from './compile-cost.ts';

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
