import { hash } from 'node:crypto';
import { equal } from './equal.ts';
import { fillRandom } from './random.ts';

const length = 32;
const shape = /^[A-Za-z0-9_-]{43}$/;

/** A new text for a browser's cookie: 256 random bits in base64url. */
export function newBrowserToken(): string {
  const bytes = Buffer.allocUnsafe(length);
  fillRandom(bytes, 0, length);
  return bytes.toString('base64url');
}

/** Whether a text can be one of {@link newBrowserToken}. */
export function isBrowserToken(text: string): boolean {
  return shape.test(text);
}

/** SHA-256 of such a text, 64 hexadecimal digits: what the database keeps of it. */
export function browserHash(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * What a form carries so that no other site can send it: made from the cookie, which other sites cannot read, and the
 * cookie cannot be made from it.
 */
export function formToken(token: string): string {
  return hash('sha256', `boxgate form ${token}`, 'base64url');
}

/** Whether a form was made for the browser with this cookie. */
export function isFormToken(text: string | undefined, token: string): boolean {
  return text !== undefined && equal(text, formToken(token));
}
