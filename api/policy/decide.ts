import { setImmediate } from 'node:timers/promises';
import type { ExplainedCandidate, Explanation } from '../schemas/explanation.ts';
import type { CompiledPolicy, Evaluation } from './compile.ts';
import type { RequestObject } from './request-object.ts';
import { Steps } from './steps.ts';

/** A policy that grants nothing although its subjects and the request may be right. */
interface FailedPolicy {
  readonly policy: string;
  /** Reason why it cannot be compiled, or the message that it gave up. */
  readonly reason: string;
}

/** Record of policies that fail in decisions: each is reported once, all are counted. */
export interface FailedPolicies {
  /** Notes a failure of a policy of a box. */
  note(box: string, failed: FailedPolicy): void;
  /** Decisions in which a policy failed, since the start. */
  readonly count: number;
}

/** Most failures that are remembered; when there are more, each is reported once more. */
const MOST_REMEMBERED = 1000;

/** Creates the record of one process; `report` is called once for each failure of a policy. */
export function createFailedPolicies(report: (box: string, failed: FailedPolicy) => void): FailedPolicies {
  const reported = new Set<string>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    note(box, failed) {
      count += 1;
      const key = JSON.stringify([box, failed.policy, failed.reason]);
      if (reported.has(key)) return;
      if (reported.size >= MOST_REMEMBERED) reported.clear();
      reported.add(key);
      report(box, failed);
    },
  };
}

/** Policies that may apply to a request, in the order in which they are asked. */
type Candidates = readonly CompiledPolicy[];

/** Outcome for a request: granted or not, and the deciding policy. */
export interface Decision {
  readonly granted: boolean;
  /** Id of the deciding policy; absent when none grants. */
  readonly policy?: string;
  /** The first policy that was asked and failed. */
  readonly failed?: FailedPolicy;
  /** True if the time was used up before the last policy was asked, and none granted. */
  readonly isOutOfTime?: true;
}

/**
 * Default deny: asks the candidates in order and stops at the first that grants. Once the steps or the time are used
 * up, only those that grant without steps are asked. Never throws.
 */
export function decide(candidates: Candidates, request: RequestObject, steps = new Steps()): Decision {
  let failed: FailedPolicy | undefined;
  for (const candidate of candidates) {
    if (steps.isUsedUp && failed !== undefined && !candidate.isUnconditional) continue;
    // Finding the next of many takes time, too, and an invalid policy takes no steps.
    steps.pass();
    const evaluation = candidate.evaluate(request, steps);
    if (evaluation.granted) return { granted: true, policy: candidate.id, ...(failed && { failed }) };
    failed ??= failureOf(candidate, evaluation);
  }
  return { granted: false, ...(failed && { failed }), ...(steps.isOutOfTime && { isOutOfTime: true }) };
}

/**
 * Decides; once more if the time was used up, because code runs slower the first time. The usual case has no promise:
 * that would cost the hot lane more than an ordinary rule.
 */
export function decideInTime(
  candidates: Candidates,
  request: RequestObject,
  newSteps = () => new Steps(),
): Decision | Promise<Decision> {
  const decision = decide(candidates, request, newSteps());
  if (decision.isOutOfTime !== true) return decision;
  return setImmediate().then(() => decide(candidates, request, newSteps()));
}

function failureOf(policy: CompiledPolicy, { fault, gaveUp }: Evaluation): FailedPolicy | undefined {
  const reason = gaveUp === true ? fault : policy.fault;
  return reason === undefined ? undefined : { policy: policy.id, reason };
}

/** Decides like {@link decide}, with the result of each candidate, even of those after the deciding one. */
export function explain(candidates: Candidates, request: RequestObject, steps = new Steps()): Explanation {
  const explained = candidates.map((candidate) => ({
    policy: candidate.id,
    engine: candidate.policy.engine,
    ...said(candidate.evaluate(request, steps)),
  }));
  const deciding = explained.find(({ granted }) => granted);
  return { granted: deciding !== undefined, ...(deciding && { policy: deciding.policy }), candidates: explained };
}

function said({ granted, fault }: Evaluation): Pick<ExplainedCandidate, 'granted' | 'fault'> {
  return { granted, ...(fault !== undefined && { fault }) };
}
