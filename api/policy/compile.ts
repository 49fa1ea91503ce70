import type { AccessPolicy } from '../../crds/access-policy.ts';
import { isList, isObject } from '../../crds/path.ts';
import type { Fault } from '../../crds/fault.ts';
import { CompileCost, PolicyFault } from './engines/engine.ts';
import { engines, isEngine } from './engines/index.ts';
import type { Rule, RuleFields } from './engines/engine.ts';
import { needsOf } from './needs.ts';
import type { Needs } from './needs.ts';
import type { RequestObject } from './request-object.ts';
import { GAVE_UP, Steps, TooManySteps } from './steps.ts';

/** Result of a policy for one request, with the fault if it could not decide. */
export interface Evaluation {
  readonly granted: boolean;
  readonly fault?: string;
  /** True if the steps or the time were used up. */
  readonly gaveUp?: true;
}

/** A policy ready to evaluate. Its rule is compiled at the first use, so that holding ten thousand of them is cheap. */
export class CompiledPolicy {
  readonly policy: AccessPolicy;
  #rule: Rule | Fault | undefined;
  #needs: Needs | undefined;
  #isUnconditional: boolean | undefined;

  /** Prepares a policy; never throws, and does no work before it is used. */
  constructor(policy: AccessPolicy) {
    this.policy = policy;
  }

  get id(): string {
    return this.policy.id;
  }

  /** The parts of a request that it looks at. */
  get needs(): Needs {
    return (this.#needs ??= needsOf(this.policy));
  }

  /** True if it grants without steps, provided that it is valid: no other grants when no steps are left. */
  get isUnconditional(): boolean {
    return (this.#isUnconditional ??= isUnconditional(this.policy));
  }

  /** True if the policy can evaluate without being compiled first. */
  get isCompiled(): boolean {
    return this.#rule !== undefined;
  }

  /** Compiles it, in 20 ms at most; never throws. */
  compile(): Rule | Fault {
    return (this.#rule ??= ruleOrFault(this.policy));
  }

  /** Reason why the policy can never grant, as a fault of the resource. Undefined for a valid one. */
  get fieldFault(): Fault | undefined {
    const rule = this.compile();
    return typeof rule === 'function' ? undefined : rule;
  }

  /** The same in a sentence. */
  get fault(): string | undefined {
    const { fieldFault } = this;
    return fieldFault && sentenceOf(fieldFault);
  }

  /** Never throws: a policy that is invalid, fails or takes more than `steps` does not grant. */
  allows(request: RequestObject, steps = new Steps()): boolean {
    return this.evaluate(request, steps).granted;
  }

  /** Does the same as {@link allows}, and returns the reason too. */
  evaluate(request: RequestObject, steps = new Steps()): Evaluation {
    const rule = this.compile();
    if (typeof rule !== 'function') return { granted: false, fault: sentenceOf(rule) };
    // The rule would say the same, with an error for each of perhaps 25,000.
    if (steps.isUsedUp) return this.isUnconditional ? GRANTED : TOO_LATE;
    try {
      return rule(request, steps) ? GRANTED : DENIED;
    } catch (error) {
      const fault = reason(error);
      return { granted: false, fault, ...(error instanceof TooManySteps && { gaveUp: true }) };
    }
  }
}

const GRANTED: Evaluation = { granted: true };
const DENIED: Evaluation = { granted: false };
const TOO_LATE: Evaluation = { granted: false, fault: GAVE_UP, gaveUp: true };

function ruleOrFault(fields: RuleFields): Rule | Fault {
  try {
    if (!isEngine(fields.engine)) throw new PolicyFault('engine', unknownEngine());
    return engines[fields.engine](fields, new CompileCost());
  } catch (error) {
    return error instanceof PolicyFault
      ? { path: error.path, message: error.reason }
      : { path: '', message: reason(error) };
  }
}

function sentenceOf({ path, message }: Fault): string {
  return path === '' ? message : `${path}: ${message}`;
}

function unknownEngine(): string {
  return `must be one of ${Object.keys(engines).join(', ')}, exactly as written here`;
}

function reason(error: unknown): string {
  if (error instanceof RangeError) return 'the rule or the request nests too deeply';
  return error instanceof Error ? error.message : 'the rule failed';
}

/**
 * Checks whether a policy grants every request without steps, provided that it is valid: `allow`, and `complex` that
 * comes to it. Any other takes steps before it grants. Trusts no stored type and compiles nothing.
 */
function isUnconditional({ engine, and, or }: RuleFields): boolean {
  if (engine !== 'complex') return engine === 'allow';
  if (isList(and)) return and.every(isAllow);
  return isList(or) && or.some(isAllow);
}

function isAllow(rule: unknown): boolean {
  return isObject(rule) && rule['engine'] === 'allow';
}
