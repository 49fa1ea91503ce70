import { planAccessToken } from '../plan.ts';
import { requestedAccess, scopeMember } from '../requested-access.ts';
import { authenticateClient, requireGrantType } from '../../client-auth/authenticate-client.ts';
import {
  makeToken,
  tokenResponse,
  demandSessionQuota,
  issueWithinLimit,
  limitsSessions,
  tooManySessions,
} from '../access-token.ts';
import { keyFor } from '../../keys/key-needed.ts';
import type { Grant, GrantContext } from './grant.ts';
import type { NewSession } from '../../../db/hot/issue.ts';
import { createTokenFamily } from '../../refresh/create-token-family.ts';
import type { RefreshSettings } from '../../refresh/settings.ts';

/** The client credentials grant, RFC 6749 §4.4: for confidential clients only. */
export const clientCredentials: Grant = {
  name: 'client_credentials',
  async handle(request, context) {
    const { state, services } = context;
    const client = await authenticateClient(request.credentials, context);
    requireGrantType(client, 'client_credentials');
    const settings = client.client.auth?.client_credentials ?? {};
    const requested = requestedAccess(request.parameters);
    const issuer = services.issuer(state);
    const { settings: box } = state;
    const plan = planAccessToken({ settings, scopes: client.scopes, box, issuer, subject: 'client' }, requested);
    const now = services.now();
    const holder = { client: client.client.id, user: null, type: 'c', remoteAddr: request.remoteAddr } as const;
    const key = keyFor(state, plan, now);
    demandSessionQuota(state);
    const { text, session } = makeToken(state, holder, plan, { issuer, key, now });
    const refreshToken = await storeSession(session, settings, context, now);
    return tokenResponse(text, plan, scopeMember(plan.scope, requested.scope), { refreshToken });
  },
};

/**
 * Stores the session of a client's own token (`now` in milliseconds): in a batch, or in a transaction if its box limits
 * sessions. Returns the refresh token if the client gets one. Throws OAuthError `slow_down`, and Outage.
 */
async function storeSession(
  session: NewSession,
  settings: RefreshSettings,
  { state, statements, transaction }: Pick<GrantContext, 'state' | 'statements' | 'transaction'>,
  now: number,
): Promise<string | undefined> {
  if (settings.refresh_token === true) {
    const none = { authenticatedAt: null, hasDefaultScope: false } as const;
    const origin = { grant: 'c', ...none, settings, box: state.settings, now } as const;
    const refreshToken = await createTokenFamily(session, origin, { statements, transaction });
    if (refreshToken === undefined) throw tooManySessions();
    return refreshToken;
  }
  if (!limitsSessions(state.settings)) await statements.issue(session);
  else if (!(await issueWithinLimit(session, state.settings, transaction, now))) throw tooManySessions();
  return undefined;
}
