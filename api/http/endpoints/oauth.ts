import type { IncomingMessage } from 'node:http';
import type { RequestChecks, VerifyPassword } from '../../oauth/client-auth/request-checks.ts';
import { introspect } from '../../oauth/session/introspection.ts';
import { isParameter } from '../../oauth/token/parameters.ts';
import { revoke } from '../../oauth/session/revocation.ts';
import { token } from '../../oauth/token/endpoint.ts';
import type { RawTokenRequest } from '../../oauth/token/endpoint.ts';
import { verifyPassword } from '../../users/sign-in/verify-password.ts';
import { Problem } from '../../problem.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { RequestContext } from '../request/request-context.ts';
import { throttlePassword } from '../throttle/throttle-password.ts';
import { nothingHere } from '../../nothing-here.ts';
import { queryOf } from '../request/query.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import { sendJson } from '../server/send.ts';
import { throttleClientAuth } from '../throttle/throttle-client-auth.ts';
import type { ClientGuess } from '../throttle/throttle-client-auth.ts';

const noStore = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** `POST /auth/token`, RFC 6749 §3.2. */
export function tokenEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const raw = await rawRequest(request, requestContext);
    const passwords = passwordCheck(context, raw);
    const answer = await throttleClientAuth(raw, context.secretLimits, (guess) =>
      token(raw, context.oauth, checksOf(requestContext, guess, passwords.verify)),
    );
    if (answer === undefined) throw nothingHere();
    noteSignIn(context, requestContext, passwords.user());
    sendJson(response, answer, context.onAnswer, noStore);
  };
}

/** The password of a request, whose user is known once it was verified. */
interface PasswordCheck {
  readonly verify: VerifyPassword;
  readonly user: () => number | undefined;
}

/** Limits guesses at passwords (RFC 6749 §4.3.2), together with those at the sign-in page. */
function passwordCheck(context: ApiContext, { box, remoteAddr, requestId }: RawTokenRequest): PasswordCheck {
  let user: number | undefined;
  return {
    user: () => user,
    async verify(email, password) {
      const guess = { box, email, address: remoteAddr ?? '', requestId };
      const typed = { email, password };
      const found = await throttlePassword(context.passwordLimits, guess, (admit) =>
        verifyPassword(context.oauth, box, typed, admit),
      );
      user = found?.user.id;
      return user;
    },
  };
}

/** Notes that a user signed in through a client, which is known once the token is issued. */
function noteSignIn({ oauth }: ApiContext, requestContext: RequestContext, user: number | undefined): void {
  if (user === undefined) return;
  const { box, client, remoteAddr, requestId } = requestContext;
  const origin = { client, user, remoteAddr, requestId };
  oauth.countedEvents.note({ box, event: 'user.signed_in', target: `User/${String(user)}`, origin });
}

/** `POST /auth/introspect`, RFC 7662. */
export function introspectEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const raw = await rawRequest(request, requestContext);
    const answer = await throttleClientAuth(raw, context.secretLimits, (guess) =>
      introspect(raw, context.oauth, checksOf(requestContext, guess)),
    );
    if (answer === undefined) throw nothingHere();
    sendJson(response, answer, context.onAnswer, noStore);
  };
}

/** `POST /auth/revoke`, RFC 7009. */
export function revokeEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const raw = await rawRequest(request, requestContext);
    const found = await throttleClientAuth(raw, context.secretLimits, (guess) =>
      revoke(raw, context.oauth, checksOf(requestContext, guess)),
    );
    if (!found) throw nothingHere();
    sendJson(response, {}, context.onAnswer, noStore);
  };
}

/** Returns the checks of a request. Its client, once proven, goes to the log and to the limits on guesses. */
function checksOf(requestContext: RequestContext, guess: ClientGuess, verifyPassword?: VerifyPassword): RequestChecks {
  const onClient = (id: string): void => {
    guess.proven(id);
    requestContext.client = id;
  };
  return { guessLimits: guess, verifyPassword, onClient, caller: requestContext };
}

async function rawRequest(request: IncomingMessage, requestContext: RequestContext): Promise<RawTokenRequest> {
  refuseQuery(requestContext.path);
  const body = await readBody(request, bodyLimits.oauth);
  return {
    box: requestContext.box,
    contentType: request.headers['content-type'],
    authorization: request.headers.authorization,
    body,
    remoteAddr: requestContext.remoteAddr === '' ? null : requestContext.remoteAddr,
    requestId: requestContext.requestId,
  };
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
