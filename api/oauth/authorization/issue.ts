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
import { makeToken, takePlace, tooManySessions, sessionQuotaRefusal } from '../token/access-token.ts';
import { scopeParameter } from '../token/requested-access.ts';
import { authorizationResponse, errorResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import type { BrowserRequest, NextStep } from './browser-request.ts';
import { givesIdToken, givesToken } from './request/response-type.ts';

/** The locked sign-in that something is issued to, and the UUID of the row that is stored. */
interface Issue {
  readonly signIn: SignIn;
  readonly id: string;
}

/**
 * Issues a code or tokens to a locked sign-in that passed all checks, redirects to the client with them, and records
 * the client's use. Throws KeyNeeded, and Outage.
 */
export async function issue(
  connection: Connection,
  requested: BrowserRequest,
  { signIn, id }: Issue,
  { usage }: OAuthServices,
): Promise<NextStep> {
  const { state, request, now } = requested;
  const answer = await (request.type === 'code' ? issueCode : issueTokens)(connection, requested, signIn, id);
  usage.tokenIssued(state.box, request.client.client.id, now);
  return { next: 'client', answer };
}

/** Issues a code (RFC 6749 §4.1.2). */
async function issueCode(
  connection: Connection,
  requested: BrowserRequest,
  signIn: SignIn,
  id: string,
): Promise<AuthorizationResponse> {
  const { plan, requestedScope, target } = requested.request;
  const hasDefaultScope = requestedScope === undefined;
  const { text, hash } = makeCode({ id, grantsNothing: plan.scope === null && !hasDefaultScope, hasDefaultScope });
  await insertCode(connection, requested.state.box, newCode(requested, signIn, { id, hash }));
  return authorizationResponse(target, [['code', text]]);
}

/**
 * Stores a session and answers with its token, then the state, then the rest (RFC 6749 §4.2.2, OpenID Connect Core
 * §3.2.2.5), or answers with an id_token or a refusal.
 */
async function issueTokens(
  connection: Connection,
  requested: BrowserRequest,
  signIn: SignIn,
  id: string,
): Promise<AuthorizationResponse> {
  const { state, request, origin, now } = requested;
  const { target, plan, type, client } = request;
  if (!givesToken(type)) return authorizationResponse(target, [['id_token', await idTokenFor(requested, signIn)]]);
  const refusal = sessionQuotaRefusal(state);
  if (refusal !== undefined) return errorResponse(target, 'temporarily_unavailable', refusal.message);
  const { person } = signIn;
  const owner = { client: client.client.id, user: person.id, type: 'i', ...origin } as const;
  const key = keyFor(state, plan, now);
  const { text, session } = makeToken(state, owner, plan, { issuer: target.issuer, key, now, person });
  const idToken = givesIdToken(type) ? await idTokenFor(requested, signIn, text) : undefined;
  if (!(await takePlace(connection, session, state.settings, now))) {
    return errorResponse(target, 'temporarily_unavailable', tooManySessions().message);
  }
  await insertSession(connection, session, null, null);
  const tokens = { session: session.id, family: null };
  await insertCode(connection, state.box, newCode(requested, signIn, { id, hash: null }), tokens);
  const rest = [
    ['token_type', 'Bearer'],
    ['expires_in', plan.expiresIn?.toString()],
    ['scope', scopeParameter(plan.scope, request.requestedScope)],
    ['id_token', idToken],
  ] as const;
  return authorizationResponse(target, [['access_token', text]], rest);
}

/** Makes the id_token. Without an access token it has all claims of the scope (OpenID Connect Core §5.4). */
function idTokenFor(
  { state, request, now }: BrowserRequest,
  { person, createdAt }: SignIn,
  accessToken?: string,
): Promise<string> {
  const { target, plan, nonce = null } = request;
  const { client } = request.client;
  const scope = plan.scope ?? '';
  const claims =
    accessToken === undefined
      ? userClaims(person, scope, claimsFor('id_token', scope))
      : idTokenClaims(person, scope, {});
  const signedIn = { issuer: target.issuer, client: client.id, user: person.id, authenticatedAt: createdAt };
  return prepareIdToken({ ...signedIn, nonce, accessToken, claims }, idTokenKeyFor(state, client, now), now)();
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
    redirectUri: request.target.isNamed ? request.target.redirectUri : null,
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
