import { signedOutPage } from '../../pages/signed-in-page.ts';
import { signOut } from '../../users/sign-in/sign-in.ts';
import { send } from '../server/send.ts';
import { requestContextOf } from '../request/request-context.ts';
import { setCookie } from '../cookies/cookie.ts';
import type { LogoutHint } from './logout-hint.ts';
import { pageAnswer, sendOn } from './send.ts';
import type { PageExchange } from './page-request.ts';

/** The destination of a logout request, and its fault. */
type Destination = Pick<LogoutHint, 'address' | 'fault'>;

/** Signs the browser out, deletes its cookie, and redirects it as {@link goOn} does. Throws Outage. */
export async function leave(exchange: Omit<PageExchange, 'request'>, hint: Destination): Promise<void> {
  const { context, here } = exchange;
  const { box, browser } = here;
  const user = await signOut(context.oauth, box.state.box, browser.token);
  if (user !== undefined) {
    const { remoteAddr, requestId } = requestContextOf(exchange.response);
    const event = { box: box.state.box, event: 'user.signed_out', target: `User/${String(user)}` } as const;
    context.oauth.countedEvents.note({ ...event, origin: { user, remoteAddr, requestId } });
  }
  goOn(exchange, hint, { 'Set-Cookie': setCookie(box.state.box, box.issuer, '', 0) });
}

/** Redirects to the app, or shows a page that says that nobody is signed in. */
export function goOn(
  { context, here, response }: Omit<PageExchange, 'request'>,
  { address, fault }: Destination,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { onAnswer } = context;
  const { language, box } = here;
  if (address !== undefined) {
    sendOn(response, address, onAnswer, headers);
    return;
  }
  const page = signedOutPage({ language, look: box.look, fault }, `${box.issuer}/auth/signin`);
  send(response, pageAnswer(page, { headers }), onAnswer);
}
