import type { IncomingMessage } from 'node:http';
import { proofLifetime } from '../../credentials/device-token.ts';
import { cookieName, cookiesOf, cookieText } from './cookie.ts';

/**
 * Returns the device token that a browser sent to prove that it has signed in to an account before; '' if it
 * sent none.
 */
export function deviceTokenOf(request: IncomingMessage, box: string, issuer: string): string {
  return cookiesOf(request, cookieName(nameOf(box), issuer))[0] ?? '';
}

/** Returns the text of the Set-Cookie header for a device token. */
export function setDeviceCookie(box: string, issuer: string, token: string): string {
  return cookieText(nameOf(box), issuer, token, proofLifetime);
}

/** Returns the name of the cookie, with a dot, which no box name has: `device-a` and `a` must not share a cookie. */
function nameOf(box: string): string {
  return `boxgate-device.${box}`;
}
