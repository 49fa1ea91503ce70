import { planAccessToken } from '../plan.ts';
import { requestedAccess } from '../requested-access.ts';
import { authenticateClient } from '../../client-auth/authenticate-client.ts';
import { requireGrantType } from '../../client-auth/identify-client.ts';
import { makeToken } from '../access-token.ts';
import { keyFor } from '../../keys/key-needed.ts';
import { scopeMember } from '../requested-scope.ts';
import { storeSession } from '../store-session.ts';
import { demandSessionQuota } from '../session-quota.ts';
import { tokenResponse } from '../response.ts';
import type { Grant } from './grant.ts';

/** The client credentials grant, RFC 6749 §4.4: for confidential clients only. */
export const clientCredentials: Grant = {
  name: 'client_credentials',
  async handle(request, context) {
    const { state, services } = context;
    const client = await authenticateClient(request.credentials, context);
    requireGrantType(client, 'client_credentials');
    const settings = client.client.auth?.client_credentials ?? {};
    const asked = requestedAccess(request.parameters);
    const issuer = services.issuer(state);
    const { settings: box } = state;
    const plan = planAccessToken({ settings, scopes: client.scopes, box, issuer, subject: 'client' }, asked);
    const now = services.now();
    const holder = { client: client.client.id, user: null, type: 'c', remoteAddr: request.remoteAddr } as const;
    const key = keyFor(state, plan, now);
    demandSessionQuota(state);
    const { text, session } = makeToken(state, holder, plan, { issuer, key, now });
    const refreshToken = await storeSession(session, settings, context, now);
    return tokenResponse(text, plan, scopeMember(plan.scope, asked.scope), { refreshToken });
  },
};
