import type { IncomingMessage } from 'node:http';
import { isBrowserToken, newBrowserToken } from '../../credentials/browser-token.ts';

/** A browser as its cookie tells it from others. */
export interface Browser {
  readonly token: string;
  /** It sent no cookie: the token was made for it just now, and the answer has to set it. */
  readonly isNew: boolean;
}

/**
 * The name of a box's cookie: with `__Host-` (RFC 6265bis §4.1.3.2) no other host and no plain connection can have set it.
 * Browsers refuse that prefix on http, which only loopback has.
 */
function cookieName(box: string, issuer: string): string {
  return isSecure(issuer) ? `__Host-boxgate-${box}` : `boxgate-${box}`;
}

function isSecure(issuer: string): boolean {
  return issuer.startsWith('https:');
}

/** The browser of a request; a new one when it sent no cookie of this box, or none that we could have made. */
export function browserOf(request: IncomingMessage, box: string, issuer: string): Browser {
  const name = cookieName(box, issuer);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=');
    const value = pair.slice(equals + 1).trim();
    if (equals > 0 && pair.slice(0, equals).trim() === name && isBrowserToken(value)) {
      return { token: value, isNew: false };
    }
  }
  return { token: newBrowserToken(), isNew: true };
}

/**
 * Text of the Set-Cookie header. Without a `lifetime` (seconds) the browser forgets it when it is closed; 0 takes it away.
 * Lax: it comes along when somebody follows a link to us, and with no form of another site.
 */
export function setCookie(box: string, issuer: string, token: string, lifetime?: number): string {
  const parts = [`${cookieName(box, issuer)}=${token}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure(issuer)) parts.push('Secure');
  if (lifetime !== undefined) parts.push(`Max-Age=${String(lifetime)}`);
  return parts.join('; ');
}
