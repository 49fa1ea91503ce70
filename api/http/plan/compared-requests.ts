import { UI_CLIENT } from '../../../crds/reserved-ids.ts';
import type { PlannedDecision, PlannedSubject } from '../../schemas/plan.ts';
import type { RecordedRequest } from '../../db/request/recorded-request.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { sampleOf } from '../../box/notes.ts';
import { explainedAppRequest, explainedRequest } from '../resources/explained-request.ts';
import { requestOf } from '../resources/explain.ts';
import type { GivenRequest } from './plan-body.ts';
import { canCall, plannedDecision } from './planned-decision.ts';
import type { Deciding } from './planned-decision.ts';
import type { PlannedUser, ReadyRequest } from './plan-facts.ts';

/** A request whose decisions before and after a plan are compared. */
export interface ComparedRequest extends ReadyRequest {
  /** Its caller and path, for people. */
  readonly caller: PlannedSubject;
  readonly path: string;
  /** Undefined for one that was given; otherwise the policy that granted it when it was recorded, empty if none did. */
  readonly recordedPolicy: string | undefined;
}

/** Prepares a request of the call. Throws Problem `invalid`, Outage. */
export async function givenRequest(
  given: GivenRequest,
  box: string,
  services: OAuthServices,
): Promise<ComparedRequest> {
  const { app, subject = {}, request, group, caller } = given;
  const { time, ...parts } = await requestOf(given, box, services);
  const user = givenUser(subject.user, group);
  return {
    app,
    client: subject.client ?? (user && UI_CLIENT), // as `$explain` assumes
    user,
    token: subject,
    parts,
    time: time ?? Math.floor(services.now() / 1000),
    caller,
    path: request.uri,
    recordedPolicy: undefined,
  };
}

function givenUser(id: number | undefined, group: string | undefined): PlannedUser | undefined {
  if (id !== undefined) return { id };
  return group === undefined ? undefined : { group };
}

/**
 * Prepares a recorded request: a request with its method to a path of its shape; undefined if there is no such path.
 */
export function recordedRequest(recorded: RecordedRequest, now: number): ComparedRequest | undefined {
  const { client, principal, group, method, shape, policy } = recorded;
  const app = recorded.app === '' ? undefined : recorded.app;
  const asked = { 'request-method': method, uri: sampleOf(shape) };
  const explained = app === undefined ? explainedRequest(asked) : explainedAppRequest(asked);
  if (!explained.ok) return undefined;
  return {
    app,
    client,
    user: principal === 'client' ? undefined : group === undefined ? 'any' : { group: group.name },
    token: principal === 'limited' ? { scope: null } : {},
    parts: { ...explained.parts, remoteAddr: app === undefined ? '' : undefined },
    time: Math.floor(now / 1000),
    caller: { client, ...callerUser(recorded) },
    path: shape,
    recordedPolicy: policy,
  };
}

function callerUser({ principal, group }: RecordedRequest): Pick<PlannedSubject, 'group' | 'any_user'> {
  if (group !== undefined) return { group: group.name };
  return principal === 'client' ? {} : { any_user: true };
}

/** Policies by which decisions before and after a plan may differ. */
export interface PolicyChanges {
  /** IDs of the policies before the plan. */
  readonly before: ReadonlySet<string>;
  /** IDs of those that it changes or deletes. */
  readonly touched: ReadonlySet<string>;
}

/** Decides requests before and after a plan, and returns those that differ. Yields between pieces of work. */
export function* changedDecisions(
  requests: readonly ComparedRequest[],
  before: Deciding,
  after: Deciding,
  policies: PolicyChanges,
): Generator<undefined, readonly PlannedDecision[]> {
  const changed: PlannedDecision[] = [];
  for (const request of requests) {
    const granted = { before: yield* plannedDecision(request, before), after: yield* plannedDecision(request, after) };
    const isCallerLost = canCall(request, before) && !canCall(request, after);
    const decision = decisionOf(request, granted, isCallerLost, policies);
    if (decision !== undefined) changed.push(decision);
    yield undefined;
  }
  return changed;
}

interface Granted {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function decisionOf(
  request: ComparedRequest,
  { before, after }: Granted,
  isCallerLost: boolean,
  policies: PolicyChanges,
): PlannedDecision | undefined {
  const { app, caller, parts, path, recordedPolicy } = request;
  const shown = {
    subject: caller,
    ...(app === undefined ? {} : { app }),
    method: parts.method.toUpperCase(),
    path,
    from: recordedPolicy === undefined ? ('given' as const) : ('recorded' as const),
  };
  if (before === undefined && after !== undefined) {
    // It was granted already, by a policy that looks at more than the record has.
    if (wasGranted(request, policies)) return undefined;
    return { ...shown, effect: 'gained', policy: after, certain: true };
  }
  if (after !== undefined) return undefined;
  if (before !== undefined) return { ...shown, effect: 'lost', policy: before, certain: true };
  if (recordedPolicy === undefined || !wasGranted(request, policies)) return undefined;
  const isKept = !policies.touched.has(recordedPolicy) && !isCallerLost;
  return isKept ? undefined : { ...shown, effect: 'lost', policy: recordedPolicy, certain: isCallerLost };
}

/** Checks whether a request was granted when it was recorded, by a policy that the box still has. */
function wasGranted({ recordedPolicy = '' }: ComparedRequest, { before }: PolicyChanges): boolean {
  return before.has(recordedPolicy);
}
