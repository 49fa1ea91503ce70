import type { IncomingMessage } from 'node:http';
import { isBrowserToken, newBrowserToken } from '../../credentials/browser-token.ts';
import { cookieName, cookiesOf, cookieText } from './cookie.ts';

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
