import type { ServerResponse } from 'node:http';
import { signedOutPage } from '../../pages/signed-in-page.ts';
import { signOut } from '../../users/sign-in/sign-in.ts';
import type { ApiContext } from '../server/api-context.ts';
import { send } from '../server/send.ts';
import { setCookie } from '../cookies/browser-cookie.ts';
import { pageAnswer, sendOn } from './send.ts';
import type { PageRequest } from './page-request.ts';

/** Signs the browser out, deletes its cookie, and redirects it as {@link goOn} does. Throws Outage. */
export async function leave(
  context: ApiContext,
  here: PageRequest,
  response: ServerResponse,
  address: string | undefined,
): Promise<void> {
  const { box, browser } = here;
  await signOut(context.oauth, box.state.box, browser.token);
  goOn(context, here, response, address, { 'Set-Cookie': setCookie(box.state.box, box.issuer, '', 0) });
}

/** Redirects to the app, or shows a page that says that nobody is signed in. */
export function goOn(
  { onAnswer }: ApiContext,
  { language, box }: PageRequest,
  response: ServerResponse,
  address: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (address !== undefined) {
    sendOn(response, address, onAnswer, headers);
    return;
  }
  const page = signedOutPage(language, box.look, `${box.issuer}/auth/signin`);
  send(response, pageAnswer(page, { headers }), onAnswer);
}
