import { OAuthError } from './oauth-error.ts';

/**
 * One text for an unknown client, a wrong or missing secret, keys that do not fit, a client switched off: nobody learns
 * which (RFC 6749 §5.2).
 */
export function notAuthenticated(): OAuthError {
  return new OAuthError('invalid_client', 'Client authentication failed');
}
