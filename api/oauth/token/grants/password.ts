import { allows } from '../../../../crds/compatibility.ts';
import type { ClientState } from '../../../box/box-state.ts';
import { defaultScope } from '../../../box/scopes.ts';
import { planAccessToken } from '../plan.ts';
import { requestedAccess, scopeMember } from '../requested-access.ts';
import { canAuthenticate, identifyClient, requireGrantType } from '../../client-auth/authenticate-client.ts';
import { makeToken, tokenResponse, issueWithinLimit, tooManySessions, demandSessionQuota } from '../access-token.ts';
import { OAuthError } from '../../oauth-error.ts';
import type { Grant, GrantContext, TokenRequest } from './grant.ts';

const subject = 'user-by-password';

/**
 * The resource owner password credentials grant, RFC 6749 §4.3, for clients that list it (RFC 9700 §2.4 advises against
 * it): an opaque token with the lifetime that the box sets, and no refresh token.
 */
export const password: Grant = {
  name: 'password',
  async handle(request, context) {
    const { state, transaction, services } = context;
    const client = await askingClient(request, context);
    const requested = requestedAccess(request.parameters);
    const wanted = { ...requested, scope: requested.scope ?? defaultScope(client.scopes, subject) };
    const issuer = services.issuer(state);
    const { settings: box } = state;
    const plan = planAccessToken({ settings: {}, scopes: client.scopes, box, issuer, subject }, wanted);
    const user = await personIn(request, context);
    if (user === undefined) throw notValid();
    const now = services.now();
    const holder = { client: client.client.id, user, type: 'p', remoteAddr: request.remoteAddr } as const;
    demandSessionQuota(state);
    const { text, session } = makeToken(state, holder, plan, { issuer, key: null, now });
    if (!(await issueWithinLimit(session, state.settings, transaction, now))) throw tooManySessions();
    const origin = {
      client: client.client.id,
      user,
      remoteAddr: request.remoteAddr ?? undefined,
      requestId: request.requestId,
    };
    services.countedEvents.note({ box: state.box, event: 'user.signed_in', target: `User/${String(user)}`, origin });
    return tokenResponse(text, plan, scopeMember(plan.scope, requested.scope));
  },
};

/** Authenticates every client that can authenticate (§4.3.2), before a password is verified. */
async function askingClient({ credentials }: TokenRequest, context: GrantContext): Promise<ClientState> {
  const client = await identifyClient(credentials, context, canAuthenticate);
  requireGrantType(client, 'password');
  if (allows(context.state.settings, 'password_grant')) return client;
  throw new OAuthError('unsupported_grant_type', 'The grant password is switched off here: use authorization_code');
}

/** Returns the id of the user with the email and password; undefined if there is none who may sign in. */
async function personIn({ parameters }: TokenRequest, { checks }: GrantContext): Promise<number | undefined> {
  const [username, word] = [parameters.get('username'), parameters.get('password')];
  if (username === undefined) throw new OAuthError('invalid_request', 'username is missing: the email of a user');
  if (word === undefined) throw new OAuthError('invalid_request', 'password is missing');
  return checks.verifyPassword?.(username, word);
}

/**
 * Makes the same error for every wrong email or password, so that a guess reveals nothing. Its reason is set where the
 * password is verified.
 */
function notValid(): OAuthError {
  return new OAuthError('invalid_grant', 'The username and the password are not valid');
}
