import type { IncomingMessage } from 'node:http';
import { isBrowserToken, newBrowserToken } from '../../credentials/browser-token.ts';
import { proofLifetime } from '../../credentials/device-token.ts';

/** Returns the values of the cookies with a name that a request sent, in their order. */
function cookiesOf(request: IncomingMessage, name: string): readonly string[] {
  return (request.headers.cookie ?? '').split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals > 0 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
  });
}

/**
 * Returns the full name of a cookie: with `__Host-` (RFC 6265bis §4.1.3.2) no other host and no plain connection can
 * set it. Browsers refuse that prefix on http, which is for development on one machine.
 */
function cookieName(name: string, issuer: string): string {
  return isSecure(issuer) ? `__Host-${name}` : name;
}

/**
 * Returns the text of a Set-Cookie header. Without a `lifetime` (seconds) the browser deletes the cookie when it is
 * closed; 0 deletes it now. Lax: it is sent when a user follows a link to us, and with no form of another site.
 */
function cookieText(name: string, issuer: string, value: string, lifetime?: number): string {
  const parts = [`${cookieName(name, issuer)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure(issuer)) parts.push('Secure');
  if (lifetime !== undefined) parts.push(`Max-Age=${String(lifetime)}`);
  return parts.join('; ');
}

function isSecure(issuer: string): boolean {
  return issuer.startsWith('https:');
}

/** A browser, identified by its cookie. */
export interface Browser {
  readonly token: string;
  /** True if it sent no cookie: the token was created just now, and the answer must set it. */
  readonly isNew: boolean;
}

/** Returns the browser of a request; a new one if it sent no cookie of this box, or one that we cannot have created. */
export function browserOf(request: IncomingMessage, box: string, issuer: string): Browser {
  const token = cookiesOf(request, cookieName(nameOf(box), issuer)).find(isBrowserToken);
  return token === undefined ? { token: newBrowserToken(), isNew: true } : { token, isNew: false };
}

/** Returns the text of the Set-Cookie header; `lifetime` as in {@link cookieText}. */
export function setCookie(box: string, issuer: string, token: string, lifetime?: number): string {
  return cookieText(nameOf(box), issuer, token, lifetime);
}

function nameOf(box: string): string {
  return `boxgate-${box}`;
}

/**
 * Returns the device token that a browser sent to prove that it has signed in to an account before; '' if it
 * sent none.
 */
export function deviceTokenOf(request: IncomingMessage, box: string, issuer: string): string {
  return cookiesOf(request, cookieName(deviceNameOf(box), issuer))[0] ?? '';
}

/** Returns the text of the Set-Cookie header for a device token. */
export function setDeviceCookie(box: string, issuer: string, token: string): string {
  return cookieText(deviceNameOf(box), issuer, token, proofLifetime);
}

/** Returns the name of the cookie, with a dot, which no box name has: `device-a` and `a` must not share a cookie. */
function deviceNameOf(box: string): string {
  return `boxgate-device.${box}`;
}
