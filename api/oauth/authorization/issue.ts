import { makeCode } from '../../credentials/code-text.ts';
import { insertCode } from '../../db/authorization/authorization-code.ts';
import type { NewCode } from '../../db/authorization/authorization-code.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { insertSession } from '../../db/session/session.ts';
import { keyFor } from '../keys/key-needed.ts';
import { idTokenKeyFor, prepareIdToken, idTokenClaims } from '../openid/id-token.ts';
import { userClaims } from '../openid/user-claims.ts';
import { claimsFor } from '../scope-text.ts';
import type { OAuthServices } from '../services.ts';
import { makeToken } from '../token/access-token.ts';
import { scopeParameter } from '../token/requested-scope.ts';
import { takePlace, tooManySessions, sessionQuotaRefusal } from '../token/session-limit.ts';
import { authorizationResponse, errorResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import type { BrowserRequest, NextStep } from './browser-request.ts';
import { givesIdToken, givesToken } from './request/response-type.ts';

/**
 * Issues a code or tokens to a locked sign-in that passed all checks, redirects to the client with them, and records the
 * client's use. `id` is the UUID of the row that is stored. Throws KeyNeeded, and Outage.
 */
export async function issue(
  connection: Connection,
  asked: BrowserRequest,
  signIn: SignIn,
  { usage }: OAuthServices,
  id: string,
): Promise<NextStep> {
  const { state, request, now } = asked;
  const answer = await (request.type === 'code' ? issueCode : issueTokens)(connection, asked, signIn, id);
  usage.tokenIssued(state.box, request.client.client.id, now);
  return { next: 'client', answer };
}

/** Issues a code (RFC 6749 §4.1.2). */
async function issueCode(
  connection: Connection,
  asked: BrowserRequest,
  signIn: SignIn,
  id: string,
): Promise<AuthorizationResponse> {
  const { plan, askedScope, place } = asked.request;
  const { text, hash } = makeCode({ id, grantsNothing: plan.scope === null && askedScope !== undefined });
  await insertCode(connection, asked.state.box, newCode(asked, signIn, { id, hash }));
  return authorizationResponse(place, [['code', text]]);
}

/**
 * Stores a session and answers with its token, then the state, then the rest (RFC 6749 §4.2.2, OpenID Connect Core
 * §3.2.2.5), or answers with an id_token or a refusal.
 */
async function issueTokens(
  connection: Connection,
  asked: BrowserRequest,
  signIn: SignIn,
  id: string,
): Promise<AuthorizationResponse> {
  const { state, request, origin, now } = asked;
  const { place, plan, type, client } = request;
  if (!givesToken(type)) return authorizationResponse(place, [['id_token', await idTokenFor(asked, signIn)]]);
  const refusal = sessionQuotaRefusal(state);
  if (refusal !== undefined) return errorResponse(place, 'temporarily_unavailable', refusal.message);
  const { person } = signIn;
  const owner = { client: client.client.id, user: person.id, type: 'i', ...origin } as const;
  const key = keyFor(state, plan, now);
  const { text, session } = makeToken(state, owner, plan, { issuer: place.issuer, key, now, person });
  const idToken = givesIdToken(type) ? await idTokenFor(asked, signIn, text) : undefined;
  if (!(await takePlace(connection, session, state.settings, now))) {
    return errorResponse(place, 'temporarily_unavailable', tooManySessions().message);
  }
  await insertSession(connection, session, null, null);
  const tokens = { session: session.id, bucket: session.bucket, family: null };
  await insertCode(connection, state.box, newCode(asked, signIn, { id, hash: null }), tokens);
  const rest = [
    ['token_type', 'Bearer'],
    ['expires_in', plan.expiresIn?.toString()],
    ['scope', scopeParameter(plan.scope, request.askedScope)],
    ['id_token', idToken],
  ] as const;
  return authorizationResponse(place, [['access_token', text]], rest);
}

/** Makes the id_token. Without an access token it has all claims of the scope (OpenID Connect Core §5.4). */
function idTokenFor(
  { state, request, now }: BrowserRequest,
  { person, createdAt }: SignIn,
  accessToken?: string,
): Promise<string> {
  const { place, plan, nonce = null } = request;
  const { client } = request.client;
  const scope = plan.scope ?? '';
  const claims =
    accessToken === undefined
      ? userClaims(person, scope, claimsFor('id_token', scope))
      : idTokenClaims(person, scope, {});
  const facts = { issuer: place.issuer, client: client.id, user: person.id, nonce, authenticatedAt: createdAt };
  return prepareIdToken({ ...facts, accessToken, claims }, idTokenKeyFor(state, client, now), now)();
}

/** Milliseconds for which a code is valid (RFC 6749 §4.1.2 allows ten minutes at most). */
const codeTime = 60_000;
/** Milliseconds in which a second use of a code is recognized. */
const day = 86_400_000;

/** Returns the row of a code, or of the tokens that a request got directly. */
function newCode(
  { state, request, browser, origin, now }: BrowserRequest,
  signIn: SignIn,
  { id, hash }: Pick<NewCode, 'id' | 'hash'>,
): NewCode {
  return {
    id,
    hash,
    client: request.client.client.id,
    user: signIn.person.id,
    version: state.version,
    browser,
    redirectUri: request.place.isNamed ? request.place.redirectUri : null,
    scope: request.plan.scope,
    audience: request.plan.audience,
    challenge: request.challenge,
    nonce: request.nonce ?? null,
    authenticatedAt: signIn.createdAt,
    userAgent: origin.userAgent,
    createdAt: now,
    expiresAt: now + codeTime,
    keptUntil: Math.max(now + day, signIn.expiresAt),
  };
}
