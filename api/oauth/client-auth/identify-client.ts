import type { GrantType } from '../../../crds/client.ts';
import type { ClientState } from '../../state/box-state.ts';
import { notAuthenticated } from '../not-authenticated.ts';
import { OAuthError } from '../oauth-error.ts';
import { authenticateClient, namedClient } from './authenticate-client.ts';
import type { ClientCredentials } from './client-auth-request.ts';
import type { AuthenticationContext } from './context.ts';

/**
 * Returns the client of a request: authenticated by the proof that it sent, or only named if it sent none and
 * `mustAuthenticate` is false for it (RFC 6749 §3.2.1). Throws OAuthError `invalid_client`, Outage.
 */
export async function identifyClient(
  credentials: ClientCredentials,
  context: AuthenticationContext,
  mustAuthenticate: (client: ClientState) => boolean,
): Promise<ClientState> {
  if (credentials.method !== 'none') return authenticateClient(credentials, context);
  const named = namedClient(context, credentials);
  if (named === undefined || mustAuthenticate(named)) throw notAuthenticated();
  return named;
}

/** Throws OAuthError `unauthorized_client` unless the client lists the grant (RFC 6749 §5.2). */
export function requireGrantType({ client }: Pick<ClientState, 'client'>, grant: GrantType): void {
  if (client.grant_types.includes(grant)) return;
  throw new OAuthError('unauthorized_client', `The client may not use the grant ${grant}`);
}
