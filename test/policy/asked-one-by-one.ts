import type { AccessPolicy } from '../../crds/access-policy.ts';
import { CompileCost, PolicyFault } from '../../api/policy/engines/engine.ts';
import type { Decision } from '../../api/policy/decide.ts';
import { engines, isEngine } from '../../api/policy/engines/index.ts';
import type { Rule } from '../../api/policy/engines/engine.ts';
import { needsOf } from '../../api/policy/needs.ts';
import type { RequestObject } from '../../api/policy/request-object.ts';
import type { Steps } from '../../api/policy/steps.ts';
import { TooManySteps } from '../../api/policy/steps.ts';

/** The answer of one policy. */
interface Answer {
  readonly policy: AccessPolicy;
  readonly granted: boolean;
  readonly fault?: string;
  /** True if the rule is invalid or gave up. */
  readonly isFailure: boolean;
}

/** Decides in the slow way: the rule of each policy is run, also when no steps are left. All are candidates. */
export function askedOneByOne(policies: readonly AccessPolicy[], request: RequestObject, steps: Steps) {
  const answers = inOrder(policies).map((policy) => answerOf(policy, (rule) => rule(request, steps)));
  return {
    decision: decisionOf(answers),
    candidates: answers.map(({ policy, granted, fault }) => ({
      policy: policy.id,
      engine: policy.engine,
      granted,
      ...(fault !== undefined && { fault }),
    })),
  };
}

function decisionOf(answers: readonly Answer[]): Decision {
  const deciding = answers.find(({ granted }) => granted);
  const asked = deciding === undefined ? answers : answers.slice(0, answers.indexOf(deciding));
  const failed = asked.find(({ isFailure }) => isFailure);
  return {
    granted: deciding !== undefined,
    ...(deciding && { policy: deciding.policy.id }),
    ...(failed && { failed: { policy: failed.policy.id, reason: failed.fault ?? '' } }),
  };
}

function inOrder(policies: readonly AccessPolicy[]): readonly AccessPolicy[] {
  const rank = (policy: AccessPolicy) => (policy.subjects === undefined ? 0 : 2) + (needsOf(policy) === 'head' ? 0 : 1);
  return policies.toSorted((one, other) => rank(one) - rank(other) || (one.id < other.id ? -1 : 1));
}

function answerOf(policy: AccessPolicy, run: (rule: Rule) => boolean): Answer {
  let rule: Rule;
  try {
    const { engine }: { engine: unknown } = policy;
    if (!isEngine(engine)) {
      throw new PolicyFault('engine', `must be one of ${Object.keys(engines).join(', ')}, exactly as written here`);
    }
    rule = engines[engine](policy, new CompileCost());
  } catch (error) {
    return { policy, granted: false, fault: messageOf(error), isFailure: true };
  }
  try {
    return { policy, granted: run(rule), isFailure: false };
  } catch (error) {
    return { policy, granted: false, fault: messageOf(error), isFailure: error instanceof TooManySteps };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
