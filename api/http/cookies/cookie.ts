import type { IncomingMessage } from 'node:http';

/** Returns the values of the cookies with a name that a request sent, in their order. */
export function cookiesOf(request: IncomingMessage, name: string): readonly string[] {
  return (request.headers.cookie ?? '').split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals > 0 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
  });
}

/**
 * Returns the full name of a cookie: with `__Host-` (RFC 6265bis §4.1.3.2) no other host and no plain connection can
 * set it. Browsers refuse that prefix on http, which is for development on one machine.
 */
export function cookieName(name: string, issuer: string): string {
  return isSecure(issuer) ? `__Host-${name}` : name;
}

/**
 * Returns the text of a Set-Cookie header. Without a `lifetime` (seconds) the browser deletes the cookie when it is
 * closed; 0 deletes it now. Lax: it is sent when a user follows a link to us, and with no form of another site.
 */
export function cookieText(name: string, issuer: string, value: string, lifetime?: number): string {
  const parts = [`${cookieName(name, issuer)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure(issuer)) parts.push('Secure');
  if (lifetime !== undefined) parts.push(`Max-Age=${String(lifetime)}`);
  return parts.join('; ');
}

function isSecure(issuer: string): boolean {
  return issuer.startsWith('https:');
}
