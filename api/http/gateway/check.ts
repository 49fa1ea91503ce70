import type { IncomingMessage } from 'node:http';
import { plainAddress } from '../../ip-address.ts';
import { nothingHere } from '../../problem.ts';
import { checkToken } from '../../oauth/session/check-token.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { pathShape } from '../../box/notes.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import type { Subject } from '../../policy/policy-index.ts';
import { Missing, whenPrepared } from '../../policy/prepare.ts';
import { requestObject } from '../../policy/request-object.ts';
import type { RequestObject } from '../../policy/request-object.ts';
import { requestContextOf } from '../request/request-context.ts';
import { bearerToken, missingToken, refusedToken } from '../access/authenticate.ts';
import { decidingPolicy, noPolicy } from '../access/authorize.ts';
import { sessionParts, appSubject } from '../access/session-parts.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { send } from '../server/send.ts';
import { enterShare } from '../server/router.ts';
import { createCheckSharers, createConnectionOrder } from './check-shares.ts';
import { originalTarget } from './original-path.ts';
import type { OriginalTarget } from './original-path.ts';
import { isOverridden, originalRequest } from './original-request.ts';
import type { Person } from '../../db/user.ts';
import { hasScope } from '../../oauth/scope-text.ts';

/** Question of a gateway. */
interface Question extends OriginalTarget {
  readonly box: string;
  readonly app: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly remoteAddr: string | undefined;
  /** Time of the request, in seconds: each attempt sees the same. */
  readonly time: number;
}

/**
 * `/auth/check`: the decision point for gateways. It decides about the original request by the token of its caller and
 * the policies of the box for the app, and never reads a body. It grants nothing without a token.
 */
export function checkEndpoint(context: ApiContext): Endpoint {
  const addressOf = knownAddress(context);
  const firstOnConnection = createConnectionOrder();
  const decided = sharedVerdicts(context);
  return async (request, response) => {
    if (response.socket === null && !(await firstOnConnection(request, response))) return;
    const requestContext = requestContextOf(response);
    const { box, requestId } = requestContext;
    const { method, target, app } = originalRequest(request, requestContext.path);
    const token = bearerToken(request, noQuery, box);
    if (token === undefined) throw missingToken(box);
    const remoteAddr = addressOf(request, requestContext.remoteAddr);
    const original = isOverridden(request.headers, method) ? undefined : originalTarget(target);
    const time = Math.floor(context.oauth.now() / 1000);
    const asked = original && { ...original, box, app, method, headers: request.headers, remoteAddr, time };
    const question = { box, app, asked, remoteAddr, requestId };
    const { session, policy } = granted(await decided(token, question), question, context.oauth);
    requestContext.client = session.client.id;
    requestContext.policy = policy;
    send(response, { status: 200, headers: identityHeaders(session, policy) }, context.onAnswer);
  };
}

/** The token is in the header alone: a query belongs to the original request. */
const noQuery = new URLSearchParams();

/**
 * Returns the address of the original caller: the one that a trusted proxy tells. The gateway's own would let its
 * callers pass as the gateway, so it is none.
 */
function knownAddress({ isTrustedProxy, log }: Pick<ApiContext, 'isTrustedProxy' | 'log'>) {
  let isNoted = false;
  return (request: IncomingMessage, told: string): string | undefined => {
    const peer = plainAddress(request.socket.remoteAddress);
    if (isTrustedProxy(peer)) return told === peer ? undefined : told;
    if (!isNoted) {
      isNoted = true;
      log.warn(`/auth/check is called from ${peer}, which is no trusted proxy: policies there see no remote-addr`);
    }
    return undefined;
  };
}

/** A token's request for an app; `asked` is undefined for a request that no policy may see. */
interface Asked {
  readonly box: string;
  readonly app: string;
  readonly asked: Question | undefined;
  readonly remoteAddr: string | undefined;
  readonly requestId: string;
}

/** The holder of a token, and the policy that granted the request; empty: none did. */
interface Decided {
  readonly session: LiveSession;
  readonly subject: Subject;
  /** The policies that concern the subject. */
  readonly candidates: readonly CompiledPolicy[];
  readonly policy: string;
}

type Verdict = Decided | 'invalid' | 'for another audience' | undefined;

const SHARE_USED_UP =
  'Too many requests with tokens of this client, or with tokens not seen before, are in flight in this box. Try again in 1 s';

/**
 * Creates the function that decides about a token's request; until then the request is in flight. Throws Problem
 * `throttled` beyond the quota of the box or the share of the client.
 */
function sharedVerdicts({ inFlight, oauth }: ApiContext) {
  const sharers = createCheckSharers();
  return async (token: string, question: Asked): Promise<Verdict> => {
    const { box } = question;
    const sharer = sharers.of(box, token);
    enterShare(inFlight, { box, sharer: sharer.name, most: oauth.states.quota(box).requests }, SHARE_USED_UP);
    try {
      const verdict = await verdictOn(token, question, oauth);
      if (typeof verdict === 'object') sharers.verified(sharer, verdict.session.client.id);
      return verdict;
    } finally {
      inFlight.leave(box, sharer.name);
    }
  };
}

/** Returns the verdict on a token's request; undefined if there is no such box. No async function: it has no await. */
function verdictOn(token: string, question: Asked, oauth: OAuthServices): Promise<Verdict> {
  const { box, app } = question;
  return whenPrepared(() =>
    oauth.states.decide<Verdict | Missing>(box, async (state, statements) => {
      const session = await checkToken(token, { state, statements, services: oauth });
      if (session === undefined) return 'invalid';
      const subject = appSubject({ ...session, client: session.client.id }, app, oauth.issuer(state));
      if (subject === undefined) return 'for another audience';
      const { asked } = question;
      if (asked === undefined) return { session, subject, candidates: [], policy: '' };
      const request = () => requestOf(asked, session, oauth.issuer(state));
      const seen = { box, upTo: 'changes', request } as const;
      const candidates = state.policies.candidates(subject, app);
      const policy = await decidingPolicy(candidates, seen, oauth);
      return policy instanceof Missing ? policy : { session, subject, candidates, policy };
    }),
  );
}

/** Returns a grant, and notes the request for the record. Throws the Problem of any other verdict. */
function granted(verdict: Verdict, question: Asked, oauth: OAuthServices): Decided {
  const { box, app, asked } = question;
  if (verdict === undefined) throw nothingHere();
  if (verdict === 'invalid') throw refusedToken(box);
  if (verdict === 'for another audience') {
    const text = 'The access token is for another audience than this app and this box';
    throw refusedToken(box, text, 'token_for_another_audience');
  }
  const { subject, policy } = verdict;
  // A request that no policy may see is not recorded.
  if (asked !== undefined)
    oauth.requestNotes.note({ box, subject, app, method: asked.method, path: asked.uri, policy });
  if (policy !== '') return verdict;
  const sent = asked === undefined ? app : `${asked.method} ${app}${pathShape(asked.uri, false)}`;
  throw noPolicy({ ...verdict, sent });
}

function requestOf(
  { method, uri, params, headers, remoteAddr, box, time }: Question,
  session: LiveSession,
  issuer: string,
): RequestObject {
  return requestObject({ method, uri, params, headers, remoteAddr, box, time, ...sessionParts(session, issuer) });
}

/** Value of a header that would be empty: some gateways drop empty headers, and a missing one must mean nothing. */
const NONE = '-';

/**
 * Returns the headers that tell the app who is calling (docs/reference/auth-check.md, Headers). None is empty, and
 * those of every answer are always there: a gateway that copies them then replaces what the caller has sent.
 */
function identityHeaders({ id, client, user, scope }: LiveSession, policy: string): Record<string, string> {
  const email = user !== null && hasScope(scope, 'email') ? emailHeaders(user) : {};
  const names = user?.groups?.map(({ name }) => groupText(name)).join(',') ?? '';
  const groups = user !== null && hasScope(scope, 'groups') ? { 'X-Auth-Groups': names === '' ? NONE : names } : {};
  return {
    'X-Auth-Client': client.id,
    'X-Auth-User': user === null ? NONE : String(user.id),
    'X-Auth-Scope': scope === null || scope === '' ? NONE : scope,
    'X-Auth-Session': id,
    'X-Auth-Policy': policy,
    ...email,
    ...groups,
  };
}

/** Returns the email, and whether it is verified: `unknown` if nobody has said. */
function emailHeaders({ email, email_verified }: Person): Record<string, string> {
  return { 'X-Auth-Email': headerText(email), 'X-Auth-Email-Verified': email_verified?.toString() ?? 'unknown' };
}

/** Returns the name of a group; one that would read as {@link NONE} is encoded. */
function groupText(name: string): string {
  return name === NONE ? '%2D' : headerText(name);
}

/** Percent-encodes all but visible ASCII, and the two signs that have a meaning here: the percent and the comma. */
function headerText(value: string): string {
  return value.toWellFormed().replace(/[^\x21-\x7e]|[%,]/gu, encodeURIComponent);
}
