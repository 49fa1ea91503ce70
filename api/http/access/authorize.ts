import type { IncomingMessage } from 'node:http';
import { allows } from '../../../crds/compatibility.ts';
import type { Box } from '../../../crds/box.ts';
import { checkBearer } from '../../oauth/session/check-token.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { decide, decideInTime } from '../../policy/decide.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Needs } from '../../policy/needs.ts';
import { compileAhead, Missing, prepare, whenPrepared } from '../../policy/prepare.ts';
import { requestObject } from '../../policy/request-object.ts';
import type { RequestObject } from '../../policy/request-object.ts';
import type { Subject } from '../../policy/policy-index.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import { Problem, nothingHere } from '../../problem.ts';
import type { BoxState } from '../../box/box-state.ts';
import { pathShape } from '../../box/notes.ts';
import { missingToken, refusedToken } from './authenticate.ts';
import { normalPath } from '../request/box-address.ts';
import { parameters } from '../request/query.ts';
import { possibleId } from '../resources/id-in-path.ts';
import type { AddressedType } from '../resources/resource-exchange.ts';
import { sessionParts, subjectOf } from './session-parts.ts';

/** A request to authorize, without its token, as policies see it. */
export interface RequestedAction {
  readonly box: string;
  readonly request: IncomingMessage;
  /** Path below the box. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly remoteAddr: string;
  readonly requestId?: string;
  readonly resource: { readonly resourceType: AddressedType; readonly id?: string };
  /** True if the token is in the query, which a box may refuse (`compatibility.query_token`). */
  readonly tokenIsInQuery?: boolean;
  /**
   * Reads the rest of the request. Called only if a policy must be evaluated that reads it: a stranger's body is not
   * worth the memory. Undefined if the request has only a head.
   */
  readonly readRest: ((needs: Needs) => Promise<RestOfRequest>) | undefined;
}

/** The rest of a request after its head, as policies see it. */
export interface RestOfRequest {
  /** The parsed body; undefined when it cannot be parsed. */
  readonly body?: unknown;
  /** The fields that the request changes; undefined when no policy looks at them, or it changes no record. */
  readonly changes?: readonly string[] | undefined;
}

/** A granted request: its session, and the deciding policy. */
export interface Granted {
  /** Undefined for an anonymous request, granted by a policy for `anyone`. */
  readonly session: LiveSession | undefined;
  readonly policy: string;
  readonly issuer: string;
  /** The settings of the box under which it was granted. */
  readonly settings: Box;
  /** The changes that the policies saw; undefined when they saw none. */
  readonly changes: readonly string[] | undefined;
}

/**
 * Authenticates the token and evaluates the box's policies, in one statement under one configuration (default deny). If
 * a policy that may apply looks at more than the head of the request, the rest is read first, and the token is checked
 * again: reading may take long, and so may compiling many policies. Throws Problem `unauthenticated`,
 * `forbidden` (no reason is disclosed) or `not-found` (no such box), and Outage.
 */
export async function authorize(
  token: string | undefined,
  asked: RequestedAction,
  services: OAuthServices,
): Promise<Granted> {
  const { box, readRest } = asked;
  const time = Math.floor(services.now() / 1000);
  let known: KnownParts = { time, upTo: readRest === undefined ? 'changes' : 'head' };
  const verdict = await whenPrepared(
    () => verdictOn(token, { ...asked, known }, services),
    readRest && (async (needs) => void (known = { time, upTo: needs, ...(await readRest(needs)) })),
  );
  if (verdict === undefined) throw nothingHere();
  if (typeof verdict === 'string') throw refusalOf(verdict, token, box);
  const { subject, policy } = verdict;
  const method = asked.request.method ?? 'GET';
  services.requestNotes.note({ box, subject, app: '', method, path: normalPath(asked.path), policy });
  if (policy !== '') return verdict;
  throw denied(asked, verdict);
}

/** The parts of a request that have been read. */
interface KnownParts extends RestOfRequest {
  /** Time of the request, in seconds: each attempt sees the same. */
  readonly time: number;
  readonly upTo: Needs;
}

/** A request as far as it has been read. */
interface KnownRequest extends RequestedAction {
  readonly known: KnownParts;
}

/** A request as policies see it. */
interface SeenRequest extends Omit<KnownRequest, 'request'> {
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>;
}

type Verdict = Decided | 'unauthenticated' | 'not-in-query';

/** A decision of the policies; `policy` is empty if none granted the request. */
interface Decided extends Granted {
  readonly subject: Subject;
  /** The policies that concern the subject. */
  readonly candidates: readonly CompiledPolicy[];
}

/** Returns the verdict on a request, or what is missing for it; undefined if there is no such box. */
function verdictOn(
  token: string | undefined,
  asked: KnownRequest,
  services: OAuthServices,
): Promise<Verdict | Missing | undefined> {
  return services.states.decide<Verdict | Missing>(asked.box, async (state, statements) => {
    if (token === undefined) return decideOn(undefined, asked, state, services);
    const live = await checkBearer(token, { state, statements, services });
    if (asked.tokenIsInQuery === true && !allows(state.settings, 'query_token')) return 'not-in-query';
    return live === undefined ? 'unauthenticated' : decideOn(live, asked, state, services);
  });
}

/** Makes the refusal of a request to an own endpoint. An ID in its path is named only if a resource can have it. */
function denied({ request, path, resource }: RequestedAction, { session, subject, candidates }: Decided): Problem {
  const target = `${resource.resourceType}/${possibleId(resource.resourceType, resource.id) ?? ''}`;
  const sent = `${request.method ?? 'GET'} ${pathShape(normalPath(path), true)}`;
  return noPolicy({ session, subject, candidates, sent, target });
}

/** A request that no policy grants: what was sent, by whom, and the policies that were asked. */
interface Denial {
  readonly session: LiveSession | undefined;
  readonly subject: Subject;
  readonly candidates: readonly CompiledPolicy[];
  readonly sent: string;
  readonly target?: string;
}

/** Makes the refusal of a request that no policy grants; the caller is told no reason. */
export function noPolicy({ session, subject, candidates, sent, target }: Denial): Problem {
  const asked = candidates.map(({ id }) => id).join(', ');
  const few = candidates.length === 0 ? 'no_policy' : 'no_policy_grants';
  return new Problem(
    'forbidden',
    'No access policy grants this request',
    {},
    {
      reason: subject.withoutUserRights === true ? 'token_without_boxgate' : few,
      sent: asked === '' ? sent : `${sent}; policies: ${asked}`,
      target,
      by: { client: session?.client.id, user: session?.user?.id, session: session?.id },
    },
  );
}

function refusalOf(refusal: 'unauthenticated' | 'not-in-query', token: string | undefined, box: string): Problem {
  if (refusal === 'unauthenticated') return token === undefined ? missingToken(box) : refusedToken(box);
  const message = 'is not taken from the query in this box: send the token in the Authorization header';
  return new Problem('bad-request', [{ path: 'access_token', message }]);
}

async function decideOn(
  session: LiveSession | undefined,
  asked: KnownRequest,
  state: BoxState,
  services: OAuthServices,
): Promise<Decided | Missing | 'unauthenticated'> {
  const issuer = services.issuer(state);
  const subject: Subject = session === undefined ? {} : subjectOf(session, issuer);
  const { box, known } = asked;
  const { policies, settings } = state;
  const question = { box, upTo: known.upTo, request: () => requestOf(session, asked, issuer) };
  // A disabled box has no valid tokens, and grants nothing to requests without one.
  const candidates = settings.active === false ? [] : policies.candidates(subject);
  const policy = await decidingPolicy(candidates, question, services);
  if (policy instanceof Missing) return policy;
  if (policy === '' && session === undefined) return 'unauthenticated';
  return { session, subject, candidates, policy, issuer, settings, changes: known.changes };
}

/** A question to policies: a request, and how far that has been read. */
interface PolicyQuestion {
  readonly box: string;
  readonly upTo: Needs;
  readonly request: () => RequestObject;
}

/**
 * Returns the policy that grants a request, empty if none does, or what is missing to decide. Notes one that fails.
 * Only a decision that is made once more is a promise.
 */
export function decidingPolicy(
  candidates: readonly CompiledPolicy[],
  { box, upTo, request }: PolicyQuestion,
  { failedPolicies }: Pick<OAuthServices, 'failedPolicies'>,
): string | Missing | Promise<string> {
  const missing = prepare(candidates, upTo);
  if (missing !== undefined) return missing;
  // The usual cases: nothing of the request is looked at. A policy with several rules may end at the first of them.
  const [first] = candidates;
  if (first === undefined) return '';
  if (first.policy.engine === 'allow') return first.id;
  const noted = ({ granted, policy = '', failed }: Decision): string => {
    if (failed !== undefined) failedPolicies.note(box, failed);
    return granted ? policy : '';
  };
  const decision = decideInTime(candidates, request());
  return decision instanceof Promise ? decision.then(noted) : noted(decision);
}

/** A list of records, and the request whose sender might ask for it. */
export interface AskedList extends Pick<RequestedAction, 'box' | 'remoteAddr' | 'request' | 'path'> {
  readonly kind: AddressedType;
}

/** Checks whether the sender of a request might read a list with the same headers, from the same address. */
export async function mayList(
  { box, remoteAddr, path, kind, request: { headers } }: AskedList,
  session: LiveSession | undefined,
  state: BoxState,
  services: OAuthServices,
): Promise<boolean> {
  if (state.settings.active === false) return false;
  const issuer = services.issuer(state);
  const subject: Subject = session === undefined ? {} : subjectOf(session, issuer);
  const candidates = state.policies.candidates(subject);
  await compileAhead(candidates);
  const known = { time: Math.floor(services.now() / 1000), upTo: 'changes' } as const;
  const list = { box, path, query: new URLSearchParams(), remoteAddr, resource: { resourceType: kind }, known };
  const request = { method: 'GET', headers };
  return decide(candidates, requestOf(session, { ...list, readRest: undefined, request }, issuer)).granted;
}

function requestOf(session: LiveSession | undefined, asked: SeenRequest, issuer: string): RequestObject {
  return requestObject({
    method: asked.request.method ?? 'GET',
    uri: normalPath(asked.path),
    params: parameters(asked.query),
    headers: asked.request.headers,
    remoteAddr: asked.remoteAddr,
    box: asked.box,
    time: asked.known.time,
    body: asked.known.body,
    changes: asked.known.changes,
    resource: asked.resource,
    ...(session === undefined ? {} : sessionParts(session, issuer)),
  });
}
