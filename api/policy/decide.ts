import type { Engine } from '../../crds/access-policy.ts';
import type { Candidates, Subject } from './policy-index.ts';
import type { RequestObject } from './request-object.ts';
import { Steps } from './steps.ts';

/** Whether a request is granted, and by which policy. */
export interface Decision {
  readonly granted: boolean;
  /** Id of the deciding policy; absent when none grants. */
  readonly policy?: string;
}

/** A decision with every candidate's part in it (POST /AccessPolicy/$explain). */
export interface Explanation extends Decision {
  readonly candidates: readonly ExplainedCandidate[];
}

/** What one candidate said. */
export interface ExplainedCandidate {
  readonly policy: string;
  readonly engine: Engine;
  readonly granted: boolean;
  /** Why it could not grant: it is invalid, or it failed on this request. */
  readonly fault?: string;
}

/** Default deny: asks the candidates in order and stops at the first that grants. Never throws. */
export function decide(policies: Candidates, subject: Subject, request: RequestObject): Decision {
  const steps = new Steps();
  for (const candidate of policies.candidates(subject)) {
    if (candidate.allows(request, steps)) return { granted: true, policy: candidate.id };
  }
  return { granted: false };
}

/** The same decision as {@link decide}, with what each candidate said, those after the deciding one included. */
export function explain(policies: Candidates, subject: Subject, request: RequestObject): Explanation {
  const steps = new Steps();
  const candidates = Array.from(policies.candidates(subject), (candidate) => ({
    policy: candidate.id,
    engine: candidate.policy.engine,
    ...candidate.judge(request, steps),
  }));
  const deciding = candidates.find(({ granted }) => granted);
  return { granted: deciding !== undefined, ...(deciding && { policy: deciding.policy }), candidates };
}
