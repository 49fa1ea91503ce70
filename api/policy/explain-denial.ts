import type { AccessPolicy } from '../../crds/access-policy.ts';
import { inSlices, type Turn } from '../../program/scheduling.ts';
import type { ExplainedCandidate, Explanation, GrantingOther } from '../schemas/explanation.ts';
import { CompileCost } from './engines/engine.ts';
import { compilePolicy } from './compile.ts';
import type { CompiledPolicy } from './compile.ts';
import { lackOf } from './missing-conditions.ts';
import { isForApp } from './policy-index.ts';
import type { Subject } from './policy-index.ts';
import type { RequestObject } from './request-object.ts';
import { Steps } from './steps.ts';

/** A denied request, and all policies of its box. */
export interface DeniedRequest {
  readonly policies: Iterable<AccessPolicy>;
  /** An app behind a gateway; undefined for the own endpoints of the box. */
  readonly app: string | undefined;
  readonly subject: Subject;
  readonly request: RequestObject;
}

/**
 * Adds to the explanation of a denial what each candidate wants that the request lacks, and which policies for others
 * would grant it. It shows parts of policies: only for those who may read them. The work is done in slices. The wants
 * of all candidates take at most the steps of a decision and the cost of compiling one policy; of the other policies up
 * to 100 are compiled.
 */
export async function withReasons(explanation: Explanation, denied: DeniedRequest, turn: Turn): Promise<Explanation> {
  if (explanation.granted) return explanation;
  const byId = new Map(Array.from(denied.policies, (policy) => [policy.id, policy]));
  const bounds = { steps: new Steps(), cost: new CompileCost() };
  const candidates: ExplainedCandidate[] = [];
  await inSlices(explanation.candidates.values(), turn, (candidate) => {
    const policy = byId.get(candidate.policy);
    byId.delete(candidate.policy);
    const isFalse = policy !== undefined && candidate.fault === undefined && !bounds.steps.isUsedUp;
    const lacks = isFalse ? lackOf(policy, denied.request, bounds) : undefined;
    candidates.push({ ...candidate, ...(lacks && { lacks }) });
  });
  const others = await grantingOthers([...byId.values()], denied, turn);
  return { ...explanation, candidates, ...(others.length > 0 && { would_grant: others }) };
}

/** Other policies that are tried, and shown. */
const MOST_TRIED = 100;
const MOST_SHOWN = 3;

/** Finds policies that are linked to others and would grant the request if its subject were linked to them. */
async function grantingOthers(
  policies: readonly AccessPolicy[],
  { app, subject, request }: DeniedRequest,
  turn: Turn,
): Promise<readonly GrantingOther[]> {
  const { client, user, withoutUserRights = false } = subject;
  // A link would not help one without an identity, or a token that lacks the rights of its user.
  if ((client === undefined && user === undefined) || withoutUserRights) return [];
  const linked = policies.filter((policy) => isLinked(policy) && isForApp(policy, app));
  const tried = linked
    .toSorted(user === undefined ? byId : groupsFirst)
    .slice(0, MOST_TRIED)
    .map(compilePolicy);
  const steps = new Steps();
  const granting: CompiledPolicy[] = [];
  await inSlices(tried.values(), turn, (policy) => {
    const isWanted = granting.length < MOST_SHOWN && !steps.isUsedUp;
    if (isWanted && policy.allows(request, steps)) granting.push(policy);
  });
  return granting.map(({ id, policy }) => ({ policy: id, link: (policy.link ?? []).slice(0, MOST_SHOWN) }));
}

function isLinked({ subjects = 'linked', link = [] }: AccessPolicy): boolean {
  return subjects === 'linked' && link.length > 0;
}

function byId(one: AccessPolicy, other: AccessPolicy): number {
  return one.id < other.id ? -1 : 1;
}

/** Orders policies for a user: those for a group first, because users are put into groups. */
function groupsFirst(one: AccessPolicy, other: AccessPolicy): number {
  return Number(isForGroup(other)) - Number(isForGroup(one)) || byId(one, other);
}

function isForGroup({ link = [] }: AccessPolicy): boolean {
  return link.some(({ resourceType }) => resourceType === 'Group');
}
