import { parseCode } from '../../../credentials/code-text.ts';
import { lockCode, useCode } from '../../../db/authorization/authorization-code.ts';
import type { StoredCode } from '../../../db/authorization/authorization-code.ts';
import type { Connection } from '../../../db/core/transaction.ts';
import { insertSession } from '../../../db/session/session.ts';
import type { TokenResponse } from '../../../schemas/oauth.ts';
import type { RefusalReason } from '../../../schemas/refusals.ts';
import type { ClientState, BoxState } from '../../../box/box-state.ts';
import { planGrantedToken } from '../plan.ts';
import { requestedAccess, scopeMember } from '../requested-access.ts';
import {
  mustAuthenticateForCode,
  identifyClient,
  requireGrantType,
  requiresPkce,
} from '../../client-auth/authenticate-client.ts';
import { keyFor } from '../../keys/key-needed.ts';
import { makeToken, tokenResponse, takePlace, tooManySessions, demandSessionQuota } from '../access-token.ts';
import { OAuthError } from '../../oauth-error.ts';
import { planIdToken } from '../../openid/id-token.ts';
import { storeTokenFamily } from '../../refresh/create-token-family.ts';
import { refreshSettings } from '../../refresh/settings.ts';
import { reportReuse } from '../../report-reuse.ts';
import { endTokens } from '../../session/end-session.ts';
import type { Grant, GrantContext, TokenRequest } from './grant.ts';
import { hash } from 'node:crypto';
import { equal } from '../../../credentials/client-secret.ts';
import type { CodeParts } from '../../../credentials/code-text.ts';
import { isRevoked } from '../../session/still-granted.ts';
import { configuredUri, onlyUri } from '../../authorization/authorization-response.ts';

/**
 * The authorization code grant, RFC 6749 §4.1.3, with PKCE (RFC 7636): one transaction locks the code, validates it,
 * makes its tokens, uses it and stores them. If anything fails, the code stays unused.
 */
export const authorizationCode: Grant = {
  name: 'authorization_code',
  async handle(request, context) {
    const client = await redeemingClient(request, context);
    const presented = presentedCode(request, client);
    const redeemed = await context.transaction(async (connection) => {
      const code = await validCode(connection, presented, context);
      return typeof code === 'string' ? code : redeem(connection, { code, presented, request, context });
    });
    if (redeemed === 'full') throw tooManySessions();
    if (typeof redeemed === 'string') throw notValid(redeemed);
    return redeemed;
  },
};

/** Authenticates every client that must authenticate (§4.1.3), before anything is revealed about the code. */
async function redeemingClient({ credentials }: TokenRequest, context: GrantContext): Promise<ClientState> {
  const client = await identifyClient(credentials, context, mustAuthenticateForCode);
  requireGrantType(client, 'authorization_code');
  return client;
}

const verifierShape = /^[A-Za-z0-9._~-]{43,128}$/;

function presentedCode({ parameters }: TokenRequest, client: ClientState): PresentedCode {
  const text = parameters.get('code');
  if (text === undefined) throw new OAuthError('invalid_request', 'code is missing');
  const verifier = parameters.get('code_verifier');
  if (verifier !== undefined && !verifierShape.test(verifier)) {
    const shape = 'code_verifier must be 43 to 128 of A-Z a-z 0-9 - . _ ~ (RFC 7636)';
    throw new OAuthError('invalid_request', shape, { reason: 'wrong_code_verifier', sent: shape });
  }
  const code = parseCode(text);
  if (code === undefined) throw notValid('unknown_code');
  return { code, client, redirectUri: parameters.get('redirect_uri'), verifier };
}

/**
 * Locks a code and validates it; returns the reason if it is not valid. A second use revokes the tokens of the first
 * (RFC 6749 §4.1.2).
 */
async function validCode(
  connection: Connection,
  presented: PresentedCode,
  context: GrantContext,
): Promise<StoredCode | RefusalReason> {
  const { state, services } = context;
  const now = services.now();
  const code = await lockCode(connection, state.box, presented.code.id);
  const fault = code === undefined ? 'unknown_code' : faultOf(code, presented, state, now);
  // A code that was closed with its sign-in is used too, and has no tokens.
  if (fault === 'used_code' && code?.tokens) {
    await endTokens(connection, state.box, [code.tokens], { as: 'revoked', now });
    const by = { client: presented.client.client.id, user: code.user };
    reportReuse({ event: 'code.reused', client: code.client, by }, context);
  }
  return fault ?? code ?? 'unknown_code';
}

/** A locked code that is valid, and the request that redeems it. */
interface Redemption {
  readonly code: StoredCode;
  readonly presented: PresentedCode;
  readonly request: TokenRequest;
  readonly context: GrantContext;
}

/**
 * Makes the tokens of a valid code, uses it and stores them; `full` beyond the limit of sessions. A target that the
 * request names again must be the granted one (RFC 8707 §2.2). Throws KeyNeeded, and OAuthError.
 */
async function redeem(
  connection: Connection,
  { code, presented, request, context }: Redemption,
): Promise<TokenResponse | 'full'> {
  const { state, services } = context;
  const { settings: box } = state;
  const { client, scopes } = presented.client;
  const { audience } = requestedAccess(request.parameters);
  const settings = refreshSettings(client, 'a');
  const [now, issuer] = [services.now(), services.issuer(state)];
  demandSessionQuota(state);
  const rules = { settings, scopes, box, issuer, subject: 'user' } as const;
  const plan = planGrantedToken(rules, { audience, scope: undefined }, code);
  const { user, userAgent, person, authenticatedAt } = code;
  const holder = { client: client.id, user, type: 'a', remoteAddr: request.remoteAddr, userAgent } as const;
  const { text, session } = makeToken(state, holder, plan, { issuer, key: keyFor(state, plan, now), now, person });
  const { grantsNothing, hasDefaultScope } = presented.code;
  const signIdToken = hasDefaultScope ? undefined : planIdToken({ state, client, issuer, now }, code, text, plan.scope);
  const idToken = await signIdToken?.();
  if (!(await takePlace(connection, session, box, now))) return 'full';
  const origin = { grant: 'a', authenticatedAt, hasDefaultScope, settings, box, now } as const;
  const family = settings.refresh_token === true ? await storeTokenFamily(connection, session, origin) : undefined;
  await insertSession(connection, session, family?.id ?? null, null);
  const tokens = { session: session.id, family: family?.id ?? null };
  await useCode(connection, state.box, code.id, { ...tokens, now });
  const scope = scopeMember(plan.scope, grantsNothing ? '' : undefined);
  return tokenResponse(text, plan, scope, { refreshToken: family?.token, idToken });
}

/** Makes the same error for every invalid code, so that a guess reveals nothing. */
function notValid(reason: RefusalReason): OAuthError {
  return new OAuthError('invalid_grant', 'The code is not valid', { reason });
}

/** A code as a client presents it. */
interface PresentedCode {
  readonly code: CodeParts;
  readonly client: ClientState;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

/**
 * Pure: returns why a code is not valid for the client that presents it; `now` in milliseconds. If it is used, somebody
 * got tokens for it already, and one of the two is a thief (RFC 6749 §4.1.2).
 */
function faultOf(
  stored: StoredCode,
  { code, client, redirectUri, verifier }: PresentedCode,
  box: Pick<BoxState, 'sessionsFrom' | 'revokedBefore'>,
  now: number,
): RefusalReason | undefined {
  if (stored.hash === null || !equal(stored.hash, code.hash)) return 'unknown_code';
  if (stored.used) return 'used_code';
  if (stored.client !== client.client.id) return 'code_of_another_client';
  if (!isStillItsTarget(stored, client, redirectUri)) return 'redirect_uri_differs';
  if (stored.expiresAt <= now) return 'expired_code';
  const counts =
    stored.person !== null &&
    !isRevoked(stored.version, stored.createdAt, client) &&
    !isRevoked(stored.version, stored.createdAt, box);
  if (!counts) return 'unknown_code';
  return isVerified(stored.challenge, verifier, client) ? undefined : 'wrong_code_verifier';
}

/**
 * Checks that the token request names the redirect URI as the authorization request did (RFC 6749 §4.1.3), and that the
 * client still has it. A code does not store one that was left out, so any change of the client since then refuses it.
 */
function isStillItsTarget(
  { redirectUri: named, version }: StoredCode,
  { client, changedIn }: ClientState,
  redirectUri: string | undefined,
): boolean {
  const uris = client.auth?.authorization_code;
  if (uris === undefined) return false;
  if (named === null) return version >= changedIn && (redirectUri === undefined || redirectUri === onlyUri(uris));
  return redirectUri === named && configuredUri(named, uris) !== undefined;
}

/**
 * Checks the PKCE verifier (RFC 7636 §4.6). A verifier without a challenge is wrong too: somebody removed the challenge
 * (RFC 9700 §4.8.2). So is a code without a challenge if its client now needs one.
 */
function isVerified(challenge: string | null, verifier: string | undefined, client: ClientState): boolean {
  if (challenge === null) return verifier === undefined && !requiresPkce(client);
  if (verifier === undefined) return false;
  return equal(hash('sha256', verifier, 'base64url'), challenge);
}
