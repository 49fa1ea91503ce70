import { allows } from '../../../../crds/compatibility.ts';
import { hasDefaultScope, parseRefreshToken } from '../../../credentials/refresh-token-text.ts';
import type { RefreshToken } from '../../../credentials/refresh-token-text.ts';
import type { RefreshFamily } from '../../../db/session/refresh-family.ts';
import type { ClientState } from '../../../box/box-state.ts';
import { planRefreshedToken } from '../plan.ts';
import type { AccessTokenPlan } from '../plan.ts';
import { requestedAccess, scopeMember } from '../requested-access.ts';
import { authenticateClient, namedClient, canAuthenticate, mustProve } from '../../client-auth/authenticate-client.ts';
import { findFamilyOf } from '../../refresh/validate-refresh.ts';
import { keyFor } from '../../keys/key-needed.ts';
import { makeToken, tokenResponse, tooManySessions, demandSessionQuota } from '../access-token.ts';
import type { MadeAccessToken } from '../access-token.ts';
import { notAuthenticated, OAuthError } from '../../oauth-error.ts';
import { planIdToken } from '../../openid/id-token.ts';
import type { SignIdToken } from '../../openid/id-token.ts';
import { refreshSettings } from '../../refresh/settings.ts';
import { subjectOfGrant } from '../../session/still-granted.ts';
import { useRefreshToken } from '../../refresh/use-refresh-token.ts';
import type { Grant, GrantContext, TokenRequest } from './grant.ts';

/** The refresh token grant, RFC 6749 §6; it needs the token and `refresh_token: true`, no entry in `grant_types`. */
export const refreshToken: Grant = {
  name: 'refresh_token',
  async handle(request, context) {
    const { state, statements, services } = context;
    const token = presentedToken(request);
    const client = await refreshingClient(request, context);
    const found = await findFamilyOf(token, state.box, statements);
    if (found === undefined) throw notValid();
    const { parameters, remoteAddr } = request;
    const requested = requestedAccess(parameters);
    const now = services.now();
    const issuer = services.issuer(state);
    const make = (family: RefreshFamily): Refreshed => {
      const holder = { client: client.client.id, user: family.user, type: 'r', remoteAddr } as const;
      const { settings: box } = state;
      const subject = subjectOfGrant(family.grant);
      const settings = refreshSettings(client.client, family.grant);
      const plan = planRefreshedToken({ settings, scopes: client.scopes, box, issuer, subject }, requested, family);
      const { person } = family;
      const key = keyFor(state, plan, now);
      demandSessionQuota(state);
      const made = makeToken(state, holder, plan, { issuer, key, now, person });
      // OpenID Connect Core §12.2: the same user and sign-in, without a nonce.
      const signedIn = person && { ...family, user: person.id, person, nonce: null };
      const issue = { state, client: client.client, issuer, now };
      const isAskedFor = requested.scope !== undefined || !hasDefaultScope(token);
      const signIdToken = signedIn && isAskedFor ? planIdToken(issue, signedIn, made.text, plan.scope) : undefined;
      return { ...made, plan, signIdToken };
    };
    const used = await useRefreshToken({ token, client, now }, found, context, make);
    if (used === 'full') throw tooManySessions();
    if (typeof used === 'string') throw notValid(used);
    const { text, plan, signIdToken } = used.made;
    const { refreshToken } = used;
    const idToken = await signIdToken?.();
    return tokenResponse(text, plan, scopeMember(plan.scope, requested.scope), { refreshToken, idToken });
  },
};

/** The tokens of a use. */
interface Refreshed extends MadeAccessToken {
  readonly plan: AccessTokenPlan;
  readonly signIdToken: SignIdToken | undefined;
}

const reasons = {
  refused: 'unknown_refresh_token',
  reused: 'used_refresh_token',
  suspended: 'refresh_not_permitted',
} as const;

/** Makes the same error for every invalid refresh token, so that a guess reveals nothing. */
function notValid(verdict: keyof typeof reasons = 'refused'): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is not valid', { reason: reasons[verdict] });
}

function presentedToken({ parameters }: TokenRequest): RefreshToken {
  const text = parameters.get('refresh_token');
  if (text === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing');
  const parsed = parseRefreshToken(text);
  if (parsed === undefined) throw notValid();
  return parsed;
}

/** Finds the client. A secret is optional but must be right; some clients and boxes demand it (RFC 6749 §6). */
async function refreshingClient({ credentials }: TokenRequest, context: GrantContext): Promise<ClientState> {
  if (mustProve(credentials, context)) return authenticateClient(credentials, context);
  const { state } = context;
  const client = namedClient(context, credentials);
  // An unknown client has no token: its token was issued to another client (RFC 6749 §5.2).
  if (client === undefined) throw notValid();
  // A client that cannot authenticate is protected by rotation instead (RFC 9700 §4.14.2).
  const { client_credentials, authorization_code } = client.client.auth ?? {};
  if (authorization_code !== undefined && !canAuthenticate(client)) return client;
  const required = [client_credentials, authorization_code].some((one) => one?.refresh_requires_secret === true);
  if (required || !allows(state.settings, 'refresh_without_secret')) {
    throw notAuthenticated('no_secret');
  }
  return client;
}
