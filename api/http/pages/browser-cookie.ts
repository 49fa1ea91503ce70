import type { IncomingMessage } from 'node:http';
import { isBrowserToken, newBrowserToken } from '../../credentials/browser-token.ts';
import { cookieName, cookiesOf, cookieText } from './cookie.ts';

/** A browser as its cookie tells it from others. */
export interface Browser {
  readonly token: string;
  /** It sent no cookie: the token was made for it just now, and the answer has to set it. */
  readonly isNew: boolean;
}

/** The browser of a request; a new one when it sent no cookie of this box, or none that we could have made. */
export function browserOf(request: IncomingMessage, box: string, issuer: string): Browser {
  const token = cookiesOf(request, cookieName(nameOf(box), issuer)).find(isBrowserToken);
  return token === undefined ? { token: newBrowserToken(), isNew: true } : { token, isNew: false };
}

/** Text of the Set-Cookie header; `lifetime` as in {@link cookieText}. */
export function setCookie(box: string, issuer: string, token: string, lifetime?: number): string {
  return cookieText(nameOf(box), issuer, token, lifetime);
}

function nameOf(box: string): string {
  return `boxgate-${box}`;
}
