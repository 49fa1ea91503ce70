import type { AccessPolicy } from '../../crds/access-policy.ts';
import { engines, isEngine } from './engines/index.ts';
import type { Rule, RuleFields } from './engines/engine.ts';
import { PolicyFault } from './policy-fault.ts';
import type { RequestObject } from './request-object.ts';
import { Steps } from './steps.ts';

/** What a policy says to one request, and why where it could not say yes or no. */
export interface Judgement {
  readonly granted: boolean;
  readonly fault?: string;
}

/** A policy ready to judge. Its rule is compiled at the first use, so that holding ten thousand of them is cheap. */
export interface CompiledPolicy {
  readonly id: string;
  readonly policy: AccessPolicy;
  /** Why the policy can never grant: the field and what is wrong with it. Undefined for a valid one. */
  readonly fault: string | undefined;
  /** Never throws: a policy that is invalid, fails or takes more than `steps` does not grant. */
  allows(request: RequestObject, steps?: Steps): boolean;
  /** As {@link allows}, with the reason. */
  judge(request: RequestObject, steps?: Steps): Judgement;
}

/** Makes a policy ready; never throws, and does no work before it is asked. */
export function compilePolicy(policy: AccessPolicy): CompiledPolicy {
  return new LazyPolicy(policy);
}

class LazyPolicy implements CompiledPolicy {
  readonly policy: AccessPolicy;
  #rule: Rule | string | undefined;

  constructor(policy: AccessPolicy) {
    this.policy = policy;
  }

  get id(): string {
    return this.policy.id;
  }

  get fault(): string | undefined {
    const rule = this.#compiled();
    return typeof rule === 'string' ? rule : undefined;
  }

  allows(request: RequestObject, steps = new Steps()): boolean {
    return this.judge(request, steps).granted;
  }

  judge(request: RequestObject, steps = new Steps()): Judgement {
    const rule = this.#compiled();
    if (typeof rule === 'string') return { granted: false, fault: rule };
    try {
      return rule(request, steps) ? GRANTED : DENIED;
    } catch (error) {
      return { granted: false, fault: reason(error) };
    }
  }

  #compiled(): Rule | string {
    return (this.#rule ??= ruleOrFault(this.policy));
  }
}

const GRANTED: Judgement = { granted: true };
const DENIED: Judgement = { granted: false };

function ruleOrFault(fields: RuleFields): Rule | string {
  try {
    if (!isEngine(fields.engine)) throw new PolicyFault('engine', unknownEngine());
    return engines[fields.engine].compile(fields);
  } catch (error) {
    return reason(error);
  }
}

function unknownEngine(): string {
  return `must be one of ${Object.keys(engines).join(', ')}, exactly as written here`;
}

function reason(error: unknown): string {
  if (error instanceof RangeError) return 'the rule or the request nests too deeply';
  return error instanceof Error ? error.message : 'the rule failed';
}
