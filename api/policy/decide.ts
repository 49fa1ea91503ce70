import type { ExplainedCandidate, Explanation } from '../schemas/explanation.ts';
import { uncompiled } from './compile-ahead.ts';
import type { CompiledPolicy, Evaluation } from './compile.ts';
import type { FailedPolicy } from './failed-policies.ts';
import { isMore, mostOf } from './needs.ts';
import type { Needs } from './needs.ts';
import type { Candidates, Subject } from './policy-index.ts';
import type { RequestObject } from './request-object.ts';
import { Steps } from './steps.ts';

/** Outcome for a request: granted or not, and the deciding policy. */
export interface Decision {
  readonly granted: boolean;
  /** Id of the deciding policy; absent when none grants. */
  readonly policy?: string;
}

/** Default deny: asks the candidates in order and stops at the first that grants. Never throws. */
export function decide(policies: Candidates, subject: Subject, request: RequestObject, steps = new Steps()): Decision {
  const granted = firstAnswer<Decision>(policies, subject, steps, {
    ask: (candidate) => (candidate.allows(request, steps) ? { granted: true, policy: candidate.id } : undefined),
    mattersAfterwards: ({ needsNoSteps }) => needsNoSteps,
    mayPassOver: () => true,
  });
  return granted ?? { granted: false };
}

/** Questions to candidates, until one of them settles the decision. */
interface Asking<T> {
  /** Returns the decision if this candidate settles it. */
  readonly ask: (candidate: CompiledPolicy) => T | undefined;
  /** Checks whether a candidate may settle the decision when no steps are left. */
  readonly mattersAfterwards: (candidate: CompiledPolicy) => boolean;
  /** Checks whether the others may be passed over when no steps are left. */
  readonly mayPassOver: () => boolean;
}

/**
 * Asks the candidates in order. Once the steps or the time are used up, it goes on with those that can still settle the
 * decision; the rest, perhaps 25,000, is not even put in order.
 */
function firstAnswer<T>(policies: Candidates, subject: Subject, steps: Steps, asking: Asking<T>): T | undefined {
  for (const candidate of policies.candidates(subject)) {
    // Finding the next of many takes time, too, and an invalid policy takes no steps.
    steps.pass();
    const answer = asking.ask(candidate);
    if (answer !== undefined) return answer;
    if (steps.isUsedUp && asking.mayPassOver()) break;
  }
  if (!steps.isUsedUp) return undefined;
  // It begins with candidates that were asked before: they answer the same.
  for (const candidate of policies.candidates(subject, asking.mattersAfterwards)) {
    const answer = asking.ask(candidate);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** A decision that needs more of the request than is known. */
export interface Undecided {
  /** The most that any candidate looks at. */
  readonly undecided: Needs;
}

/** A decision that has compiled for long enough and waits for the rest. */
export interface Uncompiled {
  readonly uncompiled: readonly CompiledPolicy[];
}

/** A decision over all of a request. */
export interface Decided extends Decision {
  /** The first policy that was asked and failed. */
  readonly failed?: FailedPolicy;
  /** True if the time was used up before the last policy was asked, and none granted. */
  readonly isOutOfTime?: true;
}

/** A request of which only a part is known. */
export interface PartialRequest {
  readonly known: Needs;
  readonly request: RequestObject;
}

/**
 * Decides like {@link decide} on a request of which only a part is known: undecided as soon as the next candidate looks
 * at more, or when compiling the candidates took 5 ms. Never throws.
 */
export function decideUpTo(
  policies: Candidates,
  subject: Subject,
  { known, request }: PartialRequest,
  { steps = new Steps(), now = () => performance.now() } = {},
): Decided | Undecided | Uncompiled {
  let compiling = 0;
  let asked = 0;
  let failed: FailedPolicy | undefined;
  const settled = firstAnswer<Decided | Undecided | Uncompiled>(policies, subject, steps, {
    ask(candidate) {
      if (isMore(candidate.needs, known)) return { undecided: mostNeeded(policies, subject) };
      if (!candidate.isCompiled) compiling += compilationTime(candidate, now);
      if (compiling > LONGEST_COMPILING) return { uncompiled: uncompiled(policies, subject, asked) };
      asked += 1;
      const evaluation = candidate.evaluate(request, steps);
      if (evaluation.granted) return { granted: true, policy: candidate.id, ...(failed && { failed }) };
      failed ??= failureOf(candidate, evaluation);
      return undefined;
    },
    mattersAfterwards: ({ needsNoSteps, needs }) => needsNoSteps || isMore(needs, known),
    mayPassOver: () => failed !== undefined,
  });
  if (settled !== undefined) return settled;
  return { granted: false, ...(failed && { failed }), ...(steps.isOutOfTime && { isOutOfTime: true }) };
}

/** Milliseconds for which a decision compiles; it continues after other requests have had their turn. */
const LONGEST_COMPILING = 5;

function compilationTime(policy: CompiledPolicy, now: () => number): number {
  const began = now();
  policy.compile();
  return now() - began;
}

function failureOf(policy: CompiledPolicy, { fault, gaveUp }: Evaluation): FailedPolicy | undefined {
  const reason = gaveUp === true ? fault : policy.fault;
  return reason === undefined ? undefined : { policy: policy.id, reason };
}

function mostNeeded(policies: Candidates, subject: Subject): Needs {
  let most: Needs = 'head';
  for (const { needs } of policies.candidates(subject, (policy) => isMore(policy.needs, most))) {
    most = mostOf([most, needs]);
  }
  return most;
}

/** Decides like {@link decide}, with the result of each candidate, even of those after the deciding one. */
export function explain(
  policies: Candidates,
  subject: Subject,
  request: RequestObject,
  steps = new Steps(),
): Explanation {
  const candidates = Array.from(policies.candidates(subject), (candidate) => ({
    policy: candidate.id,
    engine: candidate.policy.engine,
    ...said(candidate.evaluate(request, steps)),
  }));
  const deciding = candidates.find(({ granted }) => granted);
  return { granted: deciding !== undefined, ...(deciding && { policy: deciding.policy }), candidates };
}

function said({ granted, fault }: Evaluation): Pick<ExplainedCandidate, 'granted' | 'fault'> {
  return { granted, ...(fault !== undefined && { fault }) };
}
