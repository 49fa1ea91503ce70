import type { GrantType } from '../../../crds/client.ts';
import type { ClientState } from '../../box/box-state.ts';
import { notAuthenticated, OAuthError } from '../oauth-error.ts';
import { authenticateClient, namedClient } from './authenticate-client.ts';
import { canAuthenticate } from './client-type.ts';
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
  if (mustProve(credentials, context)) return authenticateClient(credentials, context);
  const named = namedClient(context, credentials);
  if (named === undefined) throw notAuthenticated('unknown_client');
  if (mustAuthenticate(named)) throw notAuthenticated('no_secret', named.client.id);
  return named;
}

/**
 * Checks whether a request must prove its client because it tries to. Basic with an empty secret only names a public
 * client (RFC 6749 §2.3.1); of any other it is a failed proof.
 */
export function mustProve(credentials: ClientCredentials, context: AuthenticationContext): boolean {
  if (credentials.isEmptyBasic !== true) return credentials.method !== 'none';
  const named = namedClient(context, credentials);
  return named === undefined || canAuthenticate(named);
}

/** Throws OAuthError `unauthorized_client` unless the client lists the grant (RFC 6749 §5.2). */
export function requireGrantType({ client }: Pick<ClientState, 'client'>, grant: GrantType): void {
  if (client.grant_types.includes(grant)) return;
  throw new OAuthError('unauthorized_client', `The client may not use the grant ${grant}`);
}
