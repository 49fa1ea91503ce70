import type { ExplainedCandidate, Explanation } from '../schemas/explanation.ts';
import { uncompiled } from './compile-ahead.ts';
import type { CompiledPolicy, Judgement } from './compile.ts';
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
  for (const candidate of policies.candidates(subject)) {
    if (candidate.allows(request, steps)) return { granted: true, policy: candidate.id };
  }
  return { granted: false };
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
  let failed: FailedPolicy | undefined;
  for (const candidate of policies.candidates(subject)) {
    if (isMore(candidate.needs, known)) return { undecided: mostNeeded(policies.candidates(subject)) };
    if (!candidate.isCompiled) compiling += compilationTime(candidate, now);
    if (compiling > LONGEST_COMPILING) return { uncompiled: uncompiled(policies.candidates(subject)) };
    const judgement = candidate.judge(request, steps);
    if (judgement.granted) return { granted: true, policy: candidate.id, ...(failed && { failed }) };
    failed ??= failureOf(candidate, judgement);
  }
  return { granted: false, ...(failed && { failed }), ...(steps.isOutOfTime && { isOutOfTime: true }) };
}

/** Milliseconds for which a decision compiles; it continues after other requests have had their turn. */
const LONGEST_COMPILING = 5;

function compilationTime(policy: CompiledPolicy, now: () => number): number {
  const began = now();
  policy.compile();
  return now() - began;
}

function failureOf(policy: CompiledPolicy, { fault, gaveUp }: Judgement): FailedPolicy | undefined {
  const reason = gaveUp === true ? fault : policy.fault;
  return reason === undefined ? undefined : { policy: policy.id, reason };
}

function mostNeeded(candidates: Iterable<CompiledPolicy>): Needs {
  return mostOf(Array.from(candidates, ({ needs }) => needs));
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
    ...said(candidate.judge(request, steps)),
  }));
  const deciding = candidates.find(({ granted }) => granted);
  return { granted: deciding !== undefined, ...(deciding && { policy: deciding.policy }), candidates };
}

function said({ granted, fault }: Judgement): Pick<ExplainedCandidate, 'granted' | 'fault'> {
  return { granted, ...(fault !== undefined && { fault }) };
}
