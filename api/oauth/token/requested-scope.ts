import type { Scopes } from '../../box/scopes.ts';
import { OAuthError } from '../oauth-error.ts';
import { scopesOf, scopeText, scopeWithin, withoutClaims } from '../scope-text.ts';

const longestScope = 4096;
const scopeShape = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * Returns the scope of a request (RFC 6749 §3.3), null if nothing is left of it. Ignores scopes that are not `known`
 * (OpenID Connect Core §3.1.2.1); with `known` undefined, every scope is known. Throws OAuthError `invalid_scope`
 * for a malformed text, and for a known scope that is not allowed (§5.2).
 */
export function requestedScope(requested: string, allowed: Scopes, known: Scopes | undefined): string | null {
  if (requested.length > longestScope || !scopeShape.test(requested)) {
    throw new OAuthError(
      'invalid_scope',
      `scope is malformed: send at most ${String(longestScope)} characters, scopes of visible ASCII with one space between them`,
    );
  }
  const scopes = [...new Set(scopesOf(requested))];
  if (scopes.every((scope) => allowed.has(scope))) return scopes.join(' ');
  const refused = scopes.find((scope) => !allowed.has(scope) && (known === undefined || known.has(scope)));
  if (refused !== undefined) throw new OAuthError('invalid_scope', refusal(refused));
  return scopeText(scopes.filter((scope) => allowed.has(scope)));
}

/**
 * Returns the granted scope without what is no longer allowed. Throws OAuthError `invalid_scope` if nothing is left.
 */
export function scopeLeft(granted: string | null, allowed: Scopes): string | null {
  const left = scopeWithin(granted, allowed);
  if (left !== undefined) return left;
  throw new OAuthError('invalid_scope', 'The client may request none of the granted scopes any more');
}

/**
 * Returns the member `scope` of a token response (RFC 6749 §5.1): whenever the token has one, because libraries take a
 * missing one for no scope. Empty if nothing was granted of what was requested; otherwise undefined (left out).
 */
export function scopeMember(granted: string | null, requested: string | undefined): string | undefined {
  return withoutClaims(granted) ?? (requested === undefined ? undefined : '');
}

/** Returns the parameter `scope` of a token in an address (§4.2.2): only if it differs from the requested scope. */
export function scopeParameter(granted: string | null, requested: string | undefined): string | undefined {
  const member = scopeMember(granted, requested);
  return member === requested ? undefined : member;
}

function refusal(scope: string): string {
  const name = scope.length > longestShown ? `${scope.slice(0, longestShown)}...` : scope;
  return `scope has ${name}, which this request may not have: leave it out, or list it in the client`;
}

const longestShown = 128;
