import { OAuthError } from './oauth-error.ts';

/**
 * Makes the same error for an unknown client, a wrong or missing secret, keys that do not match and an inactive client,
 * so that nobody learns which (RFC 6749 §5.2). `client` is the declared client, for the audit trail.
 */
export function notAuthenticated(client?: string): OAuthError {
  return new OAuthError('invalid_client', 'Client authentication failed', { client });
}
