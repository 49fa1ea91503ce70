import type { SignIn } from '../../db/authorization/sign-in.ts';
import { afterSignIn } from '../../oauth/authorization/request/prompt.ts';
import type { SignedIn } from '../../users/sign-in/begin-sign-in.ts';
import { emailKey } from '../../users/user/email.ts';
import { hasRequest } from './authorization-hint.ts';
import { setCookie, deviceTokenOf, setDeviceCookie } from '../cookies/cookie.ts';
import { sendOn } from './send.ts';
import type { PageExchange } from './page-request.ts';

/** Sends a browser that has just signed in its new cookies, and redirects it to its original target. */
export function goOnSignedIn(
  { context, here, request, response }: PageExchange,
  { browser, lifetime, user }: SignedIn,
): void {
  const { onAnswer, deviceTokens } = context;
  const { box, query } = here;
  const [id, issuer] = [box.state.box, box.issuer];
  const account = { box: id, user: user.id, password: user.password };
  const device = deviceTokens.add(deviceTokenOf(request, id, issuer), account);
  const cookies = [setCookie(id, issuer, browser, lifetime), setDeviceCookie(id, issuer, device)];
  const next = hasRequest(query) ? `/auth/authorize?${afterSignIn(query.slice(1))}` : '/auth/signin';
  sendOn(response, issuer + next, onAnswer, { 'Set-Cookie': cookies });
}

/**
 * Redirects a browser to its original target if the account of an email is the one that is signed in to already;
 * returns whether it is. Never goes on as another account than the one that was typed.
 */
export function goOnAs({ person }: SignIn, email: string, exchange: Omit<PageExchange, 'request'>): boolean {
  if (emailKey(email) !== emailKey(person.email)) return false;
  goOn(exchange);
  return true;
}

/** Redirects a browser whose user is signed in to the app's request, which demands a new sign-in if it needs one. */
export function goOn({ context, here: { box, query }, response }: Omit<PageExchange, 'request'>): void {
  sendOn(response, box.issuer + (hasRequest(query) ? `/auth/authorize${query}` : '/auth/signin'), context.onAnswer);
}
