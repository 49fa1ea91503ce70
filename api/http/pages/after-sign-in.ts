import type { ServerResponse } from 'node:http';
import { afterSignIn } from '../../oauth/authorization/prompt.ts';
import type { SignedIn } from '../../users/begin-sign-in.ts';
import type { ApiContext } from '../api-context.ts';
import { hasRequest } from './apps-wish.ts';
import { setCookie } from './browser-cookie.ts';
import { sendOn } from './send-page.ts';
import type { Visit } from './visit.ts';

/** Gives who has just signed in the new cookie, and leads them back to what they came for. */
export function goOnSignedIn(
  { onAnswer }: ApiContext,
  { box, query }: Visit,
  signedIn: SignedIn,
  response: ServerResponse,
): void {
  const cookie = setCookie(box.state.box, box.issuer, signedIn.browser, signedIn.lifetime);
  const next = hasRequest(query) ? `/auth/authorize?${afterSignIn(query.slice(1))}` : '/auth/signin';
  sendOn(response, box.issuer + next, onAnswer, { 'Set-Cookie': cookie });
}
