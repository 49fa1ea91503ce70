import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';
import { builtInName } from '../../crds/reserved-ids.ts';
import type { BuiltInClient } from '../../crds/reserved-ids.ts';
import type { ClientState } from '../box/box-state.ts';
import type { DecidingState } from '../box/planned-state.ts';
import { requestableScopes } from '../box/scopes.ts';

/**
 * Finds a client of a box: a stored one, otherwise a built-in one; undefined if there is neither. A stored client keeps
 * an ID that it had before the ID was reserved; then the box does not have the built-in client of that name.
 */
export function clientOf(
  { clients, builtInFrom, settings }: Pick<DecidingState, 'clients' | 'builtInFrom' | 'settings'>,
  id: string,
  issuer: string,
): ClientState | undefined {
  const stored = clients.get(id);
  if (stored !== undefined) return stored;
  const name = builtInName(id);
  if (name === undefined || builtInFrom === undefined) return undefined;
  const client = builtInClient(name, settings, issuer);
  return {
    client,
    scopes: requestableScopes(client, true),
    changedIn: builtInFrom,
    secrets: [],
    previous: undefined,
    sessionsFrom: builtInFrom,
    revokedBefore: undefined,
  };
}

/** Seconds for which an access token of a built-in client is valid, unless the Box sets less. */
const ACCESS_LIFETIME = 3600;
/** Seconds for which the sign-in of `boxctl` lasts without use, unless the Box sets less. */
const REFRESH_LIFETIME = 7 * 86_400;

/**
 * Returns a built-in client (docs/reference/oauth.md, Built-in clients): it follows the settings and the issuer of its
 * box.
 */
export function builtInClient(name: BuiltInClient, settings: Box, issuer: string): Client {
  const { tokens = {}, signing } = settings;
  const common = {
    resourceType: 'Client' as const,
    id: name,
    grant_types: ['authorization_code' as const],
    scope: ['openid', 'boxgate'],
    // The algorithm of the box's own key: a box does not create an RSA key for a built-in client alone.
    id_token_signed_response_alg: signing?.algorithm ?? 'ES256',
  };
  const access = Math.min(ACCESS_LIFETIME, tokens.default_access_token_expiration ?? ACCESS_LIFETIME);
  switch (name) {
    case 'boxgate.ui':
      return {
        ...common,
        // It says who is signed in.
        scope: [...common.scope, 'email'],
        name: 'Boxgate',
        description: 'The admin UI of the box.',
        first_party: true,
        auth: {
          authorization_code: { redirect_uri: `${issuer}/ui/`, pkce: true, access_token_expiration: access },
        },
        post_logout_redirect_uris: [`${issuer}/ui/`],
      };
    case 'boxgate.cli':
      return {
        ...common,
        name: 'boxctl',
        description: 'The command-line tool of Boxgate, on the computer of its user.',
        first_party: false,
        auth: {
          authorization_code: {
            // RFC 8252 §7.3: any port. No proof of the client's identity (§8.6): consent is requested each time.
            redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
            pkce: true,
            access_token_expiration: access,
            refresh_token: true,
            refresh_token_expiration: Math.min(REFRESH_LIFETIME, tokens.max_refresh_lifetime ?? REFRESH_LIFETIME),
          },
        },
      };
  }
}
