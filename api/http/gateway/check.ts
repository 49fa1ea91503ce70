import { setImmediate } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { plainAddress } from '../../ip-address.ts';
import { nothingHere } from '../../nothing-here.ts';
import { checkToken } from '../../oauth/session/check-token.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { compileAhead } from '../../policy/compile-ahead.ts';
import { decideUpTo } from '../../policy/decide.ts';
import type { Uncompiled } from '../../policy/decide.ts';
import type { Subject } from '../../policy/policy-index.ts';
import { requestObject } from '../../policy/request-object.ts';
import type { RequestObject } from '../../policy/request-object.ts';
import { Problem } from '../../problem.ts';
import type { BoxState } from '../../state/box-state.ts';
import { exchangeOf } from '../request/exchange.ts';
import { originOf } from '../request/origin-of.ts';
import { bearerToken, missingToken, refusedToken } from '../resources/authenticate.ts';
import { sessionParts } from '../resources/session-parts.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { send } from '../server/send.ts';
import { appSubject } from './app-subject.ts';
import { identityHeaders } from './identity-headers.ts';
import { originalTarget } from './original-path.ts';
import type { OriginalTarget } from './original-path.ts';
import { originalRequest } from './original-request.ts';

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
  return async (request, response) => {
    const exchange = exchangeOf(response);
    const { box, requestId } = exchange;
    const { method, target, app } = originalRequest(request, exchange.path);
    const token = bearerToken(request, noQuery, box);
    if (token === undefined) throw missingToken(box);
    const remoteAddr = addressOf(request, exchange.remoteAddr);
    const original = originalTarget(target);
    const time = Math.floor(context.oauth.now() / 1000);
    const asked = original && { ...original, box, app, method, headers: request.headers, remoteAddr, time };
    const { session, policy } = await decide(token, { box, app, asked, remoteAddr, requestId }, context.oauth);
    exchange.client = session.client.id;
    exchange.policy = policy;
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

interface Granted {
  readonly session: LiveSession;
  readonly policy: string;
}

/** A token's request for an app; `asked` is undefined for a path that no policy may see. */
interface Asked {
  readonly box: string;
  readonly app: string;
  readonly asked: Question | undefined;
  readonly remoteAddr: string | undefined;
  readonly requestId: string;
}

/** Decides, again after policies had to be compiled, and once more after a decision ran out of time. Throws Problem. */
async function decide(token: string, question: Asked, oauth: OAuthServices): Promise<Granted> {
  let isLastAttempt = false;
  for (;;) {
    const verdict = await verdictOn(token, question, isLastAttempt, oauth);
    if ('policy' in verdict) return verdict;
    if ('uncompiled' in verdict) {
      await compileAhead(verdict.uncompiled);
    } else {
      await setImmediate();
      isLastAttempt = true;
    }
  }
}

/** No answer yet. */
type Unsettled = Uncompiled | { readonly isOutOfTime: true };
type Verdict = Granted | Unsettled | Forbidden | 'unauthenticated';

/** A denial by the policies, of the session of a token. */
interface Forbidden {
  readonly forbidden: LiveSession;
}

async function verdictOn(
  token: string,
  question: Asked,
  isLastAttempt: boolean,
  oauth: OAuthServices,
): Promise<Granted | Unsettled> {
  const { box, app } = question;
  const verdict = await oauth.states.decide<Verdict>(box, async (state, statements) => {
    const session = await checkToken(token, { state, statements, services: oauth });
    const subject = session && appSubject({ ...session, client: session.client.id }, app, oauth.issuer(state));
    if (session === undefined || subject === undefined) return 'unauthenticated';
    return judgeQuestion({ session, subject, state, isLastAttempt }, question, oauth);
  });
  if (verdict === undefined) throw nothingHere();
  if (verdict === 'unauthenticated') throw refusedToken(box);
  if ('forbidden' in verdict) {
    // The app is not named, because its name is a header.
    const origin = originOf(question, verdict.forbidden);
    oauth.countedEvents.note({ box, event: 'access.denied', result: 'denied', origin });
    throw new Problem('forbidden', 'No access policy grants this request');
  }
  return verdict;
}

/** One attempt at a decision over the request of a valid token. */
interface Attempt {
  readonly session: LiveSession;
  readonly subject: Subject;
  readonly state: BoxState;
  /** The previous attempt ran out of time: code runs slower the first time. */
  readonly isLastAttempt: boolean;
}

function judgeQuestion(
  { session, subject, state, isLastAttempt }: Attempt,
  { box, app, asked }: Asked,
  oauth: OAuthServices,
): Granted | Unsettled | Forbidden {
  if (asked === undefined) return { forbidden: session };
  const part = { known: 'changes', request: requestOf(asked, session, oauth.issuer(state)) } as const;
  const decision = decideUpTo(state.policies.forApp(app), subject, part);
  if ('uncompiled' in decision) return decision;
  if ('undecided' in decision) throw new TypeError('undecided by the whole request');
  const { granted, policy = '', failed, isOutOfTime } = decision;
  if (isOutOfTime === true && !isLastAttempt) return { isOutOfTime };
  if (failed !== undefined) oauth.failedPolicies.note(box, failed);
  return granted ? { session, policy } : { forbidden: session };
}

function requestOf(
  { method, uri, params, headers, remoteAddr, box, time }: Question,
  session: LiveSession,
  issuer: string,
): RequestObject {
  const seen = requestObject({ method, uri, params, headers, remoteAddr, box, time, ...sessionParts(session, issuer) });
  return { ...seen, uri };
}
