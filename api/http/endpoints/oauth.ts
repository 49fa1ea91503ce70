import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientId } from '../../oauth/client-auth/client-auth-request.ts';
import type { RequestChecks } from '../../oauth/client-auth/context.ts';
import { introspect } from '../../oauth/session/introspection.ts';
import { isParameter, parseParameters } from '../../oauth/token/parameters.ts';
import { revoke, endSession } from '../../oauth/session/end-session.ts';
import { readTokenRequest, token } from '../../oauth/token/endpoint.ts';
import type { TokenRequest } from '../../oauth/token/grants/grant.ts';
import { verifyPassword } from '../../users/sign-in/verify-password.ts';
import { clientOf } from '../../oauth/built-in-clients.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { Problem, nothingHere } from '../../problem.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint, RequestContext } from '../request/request-context.ts';
import { requestContextOf, originOf, refusing } from '../request/request-context.ts';
import { throttlePassword } from '../throttle/password-guess.ts';
import { queryOf } from '../request/query.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import { sendJson, send } from '../server/send.ts';
import { admit, record } from '../throttle/secret-guess.ts';
import { userInfo } from '../../oauth/openid/user-claims.ts';
import { bearerToken, isTokenText, missingToken, refusedToken } from '../access/authenticate.ts';
import { findBearerSession } from '../../oauth/session/check-token.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import { refuseParameters } from '../../records/search/parameters.ts';
import { sessionView } from '../../records/session.ts';
import { negotiate, render } from '../formats/negotiate.ts';

const noStore = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** `POST /auth/token`, RFC 6749 §3.2. */
export function tokenEndpoint(context: ApiContext): Endpoint {
  return oauthEndpoint(context, (request, checks) => token(request, context.oauth, checks));
}

/** `POST /auth/introspect`, RFC 7662. */
export function introspectEndpoint(context: ApiContext): Endpoint {
  return oauthEndpoint(context, (request, checks) => introspect(request, context.oauth, checks));
}

/** `POST /auth/revoke`, RFC 7009. */
export function revokeEndpoint(context: ApiContext): Endpoint {
  // A public client proves no identity.
  const proves = ({ credentials }: TokenRequest): boolean => credentials.method !== 'none';
  const serve: Serve = async (request, checks) => ((await revoke(request, context.oauth, checks)) ? {} : undefined);
  return oauthEndpoint(context, serve, proves);
}

/** Returns the answer to a request; undefined if there is no such box. */
type Serve = (request: TokenRequest, checks: RequestChecks) => Promise<object | undefined>;

/** Creates an endpoint that authenticates a client, within the limits on guesses. A client that is proven is logged. */
function oauthEndpoint(
  context: ApiContext,
  serve: Serve,
  proves: (request: TokenRequest) => boolean = () => true,
): Endpoint {
  return async (incoming: IncomingMessage, response: ServerResponse) => {
    const requestContext = requestContextOf(response);
    const request = await readRequest(incoming, requestContext); //    RFC 6749 §3.2, §2.3.1
    const guess = admit(context.secretLimits, request);
    let refusal: unknown;
    try {
      const checks = {
        guessLimits: guess,
        verifyPassword: passwordCheck(context, request, requestContext),
        caller: requestContext,
      };
      const answer = await serve(request, checks);
      if (answer === undefined) throw nothingHere();
      if (proves(request)) requestContext.client = clientId(request.credentials);
      sendJson(response, answer, context.onAnswer, noStore);
    } catch (error) {
      refusal = error;
      if (error instanceof OAuthError) error.client ??= await declaredClient(context, request);
      throw error;
    } finally {
      await record(context.secretLimits, request, guess, refusal);
    }
  };
}

/** Returns the ID of the client that a request names, if it exists. */
async function declaredClient({ oauth }: ApiContext, { box, credentials }: TokenRequest): Promise<string | undefined> {
  const id = clientId(credentials);
  const found = await oauth.states.decide(box, async (state) => ({
    isDeclared: clientOf(state, id, oauth.issuer(state)) !== undefined,
  }));
  return found?.isDeclared === true ? id : undefined;
}

/** Limits guesses at passwords (RFC 6749 §4.3.2), together with those at the sign-in page. */
function passwordCheck(
  context: ApiContext,
  { box, remoteAddr }: TokenRequest,
  requestContext: RequestContext,
): RequestChecks['verifyPassword'] {
  return async (email, password) => {
    const guess = { box, email, address: remoteAddr ?? '', onRefused: refusing(requestContext) };
    const found = await throttlePassword(context.passwordLimits, guess, (admitGuess) =>
      verifyPassword(context.oauth, box, { email, password }, admitGuess),
    );
    return found?.user.id;
  };
}

async function readRequest(request: IncomingMessage, requestContext: RequestContext): Promise<TokenRequest> {
  refuseQuery(requestContext.path);
  const body = await readBody(request, bodyLimits.oauth);
  return readTokenRequest({
    box: requestContext.box,
    contentType: request.headers['content-type'],
    authorization: request.headers.authorization,
    body,
    remoteAddr: requestContext.remoteAddr === '' ? null : requestContext.remoteAddr,
    requestId: requestContext.requestId,
  });
}

/**
 * Refuses secrets (RFC 6749 §2.3.1) and tokens (RFC 6750 §2.3) in the address, which would end up in logs. Unknown
 * parameters are ignored (RFC 6749 §3.2).
 */
function refuseQuery(path: string): void {
  if (!path.includes('?')) return;
  for (const name of queryOf(path).keys()) {
    if (isParameter(name) || name === 'access_token') {
      throw new Problem('bad-request', `${name} belongs in the body: nothing is read from the address`);
    }
  }
}

/** Answers are personal: no cache on the way may keep them. */
const personal = { 'Cache-Control': 'private, no-store', Pragma: 'no-cache' };

/** `GET` and `POST /auth/userinfo`, OpenID Connect Core §5.3; the errors are those of RFC 6750 §3.1. */
export function userInfoEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const { box, path } = requestContext;
    const token = await presentedToken(request, queryOf(path), box);
    if (token === undefined) throw missingToken(box);
    const found = await userInfo(box, token, context.oauth);
    if (found === undefined) throw nothingHere();
    if (found.verdict === 'invalid') throw refusedToken(box);
    if (found.verdict !== 'good') throw insufficientScope(box);
    requestContext.client = found.client;
    sendJson(response, found.claims, context.onAnswer, personal);
  };
}

/** Reads the token from the header, or from the body of a POST: a form (RFC 6750 §2.2) or JSON; never from both. */
async function presentedToken(
  request: IncomingMessage,
  query: URLSearchParams,
  box: string,
): Promise<string | undefined> {
  const inHeader = bearerToken(request, query, box);
  if (request.method !== 'POST') return inHeader;
  const body = await readBody(request, bodyLimits.oauth);
  if (body.length === 0) return inHeader;
  const inBody = parseParameters(request.headers['content-type'], body).get('access_token');
  if (inBody === undefined) return inHeader;
  if (inHeader !== undefined) {
    throw new Problem('bad-request', [{ path: 'access_token', message: 'must be sent in one place only' }]);
  }
  if (!isTokenText(inBody)) throw refusedToken(box);
  return inBody;
}

function insufficientScope(box: string): Problem {
  const text = 'The access token must be of a person, for the scope openid';
  const challenge = `Bearer realm="${box}", error="insufficient_scope", scope="openid"`;
  return new Problem('forbidden', text, { 'WWW-Authenticate': challenge }, { reason: 'token_without_openid' });
}

/** `DELETE /Session`: closes the session of the bearer token, which needs no policy; a second call gets a 401. */
export function closeSessionEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const { box } = requestContext;
    const query = queryOf(requestContext.path);
    const token = bearerToken(request, query, box);
    if (token === undefined) throw missingToken(box);
    const format = negotiate(request.headers.accept);
    const live = await liveSession(box, token, context);
    if (live === undefined) throw refusedToken(box);
    requestContext.client = live.client.id;
    // A filter would refer to other sessions than the caller's own.
    refuseParameters(query);
    const closed = await endSession(box, live.id, 'closed', context.oauth);
    // For two concurrent calls, the second one finds the session already closed.
    if (closed?.ended !== true) throw refusedToken(box);
    const origin = originOf(requestContext, live);
    context.oauth.countedEvents.note({ box, event: 'session.closed', target: `Client/${live.client.id}`, origin });
    send(response, render({ status: 200, body: sessionView(closed.session) }, format), context.onAnswer);
  };
}

async function liveSession(box: string, token: string, { oauth }: ApiContext): Promise<LiveSession | undefined> {
  const found = await oauth.states.decide(box, async (state, statements) => {
    return { live: await findBearerSession(token, { state, statements, services: oauth }) };
  });
  if (found === undefined) throw nothingHere();
  return found.live;
}
