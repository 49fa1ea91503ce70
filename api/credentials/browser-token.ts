import { hash } from 'node:crypto';
import { equal } from './client-secret.ts';
import { randomPart } from './token-text.ts';

const shape = /^[A-Za-z0-9_-]{43}$/;

/** Creates a new text for a browser's cookie: 256 random bits in base64url. */
export function newBrowserToken(): string {
  return randomPart(32).toString('base64url');
}

/** Checks whether a text can be one of {@link newBrowserToken}. */
export function isBrowserToken(text: string): boolean {
  return shape.test(text);
}

/** Returns the SHA-256 of such a text, 64 hexadecimal digits: the database stores only this. */
export function browserHash(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * Returns the token of a form, so that no other site can send it: derived from the {@link browserHash} of the cookie,
 * which other sites cannot read, and the cookie cannot be derived from it.
 */
export function formToken(browser: string): string {
  return hash('sha256', `boxgate form ${browser}`, 'base64url');
}

/** Checks whether a form was created for the browser with this {@link browserHash}. */
export function isFormToken(text: string | undefined, browser: string): boolean {
  return text !== undefined && equal(text, formToken(browser));
}
