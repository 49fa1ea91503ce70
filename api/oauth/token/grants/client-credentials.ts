import type { Client } from '../../../../crds/client.ts';
import { planAccessToken } from '../plan.ts';
import { askedIn } from '../asked.ts';
import { authenticateClient } from '../../client-auth/authenticate-client.ts';
import { createTokenFamily } from '../../refresh/create-token-family.ts';
import { isKeyNeeded, keyFor, makeToken } from '../access-token.ts';
import { OAuthError } from '../../oauth-error.ts';
import { issueWithinLimit, tooManySessions } from '../session-limit.ts';
import { tokenResponse } from '../response.ts';
import type { Grant } from './grant.ts';

/** The client credentials grant, RFC 6749 §4.4: for confidential clients only. */
export const clientCredentials: Grant = {
  name: 'client_credentials',
  async handle(request, context) {
    const { state, statements, transaction, services } = context;
    const client = await authenticateClient(request.credentials, context);
    demandGrant(client.client);
    const settings = client.client.auth?.client_credentials ?? {};
    const asked = askedIn(request.parameters);
    const issuer = services.issuer(state);
    const plan = planAccessToken(
      { settings, scopes: client.scopes, box: state.settings, issuer, subject: 'client' },
      asked,
    );
    const now = services.now();
    const key = keyFor(state, plan, now);
    if (isKeyNeeded(key)) return { version: await statements.version(state.box), value: key };
    const holder = { client: client.client.id, user: null, type: 'c', remoteAddr: request.remoteAddr } as const;
    const made = makeToken(state, holder, plan, key, issuer, now);
    if (settings.refresh_token !== true) {
      if (state.settings.tokens?.max_sessions_per_client !== undefined) {
        const { version, value } = await issueWithinLimit(made.session, state.settings, transaction, now);
        if (!value) throw tooManySessions();
        return { version, value: tokenResponse(made.text, plan, asked.scope) };
      }
      return { version: await statements.issue(made.session), value: tokenResponse(made.text, plan, asked.scope) };
    }
    const origin = { grant: 'c', settings } as const;
    const begun = await createTokenFamily(made.session, origin, state.settings, transaction, now);
    if (begun.value === undefined) throw tooManySessions();
    return {
      version: begun.version,
      value: tokenResponse(made.text, plan, asked.scope, { refreshToken: begun.value }),
    };
  },
};

/** Throws OAuthError `unauthorized_client` unless the client lists the grant (RFC 6749 §5.2). */
function demandGrant(client: Client): void {
  if (!client.grant_types.includes('client_credentials')) {
    throw new OAuthError('unauthorized_client', 'The client may not use the grant client_credentials');
  }
}
