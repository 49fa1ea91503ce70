import { formPostPage } from '../../pages/form-post-page.ts';
import { signOutPage, signedOutPage } from '../../pages/signed-in-page.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { send } from '../server/send.ts';
import {
  readPostedQuery,
  formView,
  pageRequest,
  findSignedInUser,
  signOutAddress,
  readPageForm,
} from './page-request.ts';
import { pageAnswer, sendOn, refusedWith } from './send.ts';
import type { PageExchange } from './page-request.ts';
import { signOut } from '../../users/sign-in/sign-in.ts';
import { requestContextOf } from '../request/request-context.ts';
import { setCookie } from '../cookies/cookie.ts';
import { validateLogout } from '../../oauth/openid/logout-request.ts';
import type { ValidatedLogout } from '../../oauth/openid/logout-request.ts';
import { nothingHere } from '../../problem.ts';

/**
 * Answers `GET /auth/logout`: an app requests a logout (OpenID Connect RP-Initiated Logout §2). The user of its
 * id_token is signed out immediately; all others are asked, because any site can link here.
 */
export function logoutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    const exchange = { context, here, request, response };
    await grant(exchange, await readLogoutHint(exchange, here.query.slice(1)));
  };
}

/**
 * Answers `POST /auth/logout` as the GET, from the form: its id_token is not put into an address. A form of another
 * site sends no cookie (`SameSite=Lax`), so a page of ours posts it again.
 */
export function postedLogoutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const form = await readPostedQuery(request);
    const here = await pageRequest(context, request, response);
    const exchange = { context, here, request, response };
    const hint = await readLogoutHint(exchange, form);
    const fields = new URLSearchParams(form);
    if (here.browser.isNew && !fields.has(POSTED_AGAIN)) postAgain(exchange, fields);
    else await grant(exchange, hint);
  };
}

/** Field of a form that a page of ours sent: it is not posted a third time. It permits nothing. */
const POSTED_AGAIN = 'boxgate_posted_again';

const known = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'];

function postAgain({ context, here, response }: PageExchange, form: URLSearchParams): void {
  const fields = [...form].filter(([name]) => known.includes(name));
  const { language, box } = here;
  const page = formPostPage({
    language,
    look: box.look,
    purpose: 'sign out',
    address: `${box.issuer}/auth/logout`,
    fields: [...fields, [POSTED_AGAIN, '1']],
  });
  send(response, pageAnswer(page, { leaves: true }), context.onAnswer);
}

async function grant(exchange: PageExchange, hint: LogoutHint): Promise<void> {
  const { context, here, response } = exchange;
  const signedInUser = await findSignedInUser(context, here);
  if (signedInUser === undefined) {
    goOn(exchange, hint);
  } else if (signedInUser.person.id === hint.user) {
    await leave(exchange, hint);
  } else {
    const address = signOutAddress(here.box) + (hint.withoutHint === '' ? '' : `?${hint.withoutHint}`);
    const { fault } = hint;
    const page = signOutPage({ ...formView(here), email: signedInUser.person.email, signOutAddress: address, fault });
    send(response, pageAnswer(page, { leaves: hint.address !== undefined }), context.onAnswer);
  }
}

/** The destination of a logout request, and its fault. */
type Destination = Pick<LogoutHint, 'address' | 'fault'>;

/** Signs the browser out, deletes its cookie, and redirects it as {@link goOn} does. Throws Outage. */
async function leave(exchange: Omit<PageExchange, 'request'>, hint: Destination): Promise<void> {
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
function goOn(
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

/**
 * `POST /auth/signout`: ends the sign-in of the cookie on all replicas, and deletes the cookie. The query is that of
 * the logout request that led here, without its id_token, or empty.
 */
export function signOutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    await readPageForm(context, here, request);
    const exchange = { context, here, request, response };
    await leave(exchange, await readLogoutHint(exchange, here.query.slice(1)));
  };
}

/** `GET /auth/signout`: asks first, because any site can link here. */
export function signOutPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    const signedInUser = await findSignedInUser(context, here);
    if (signedInUser === undefined) {
      goOn({ context, here, response }, { address: undefined });
      return;
    }
    const address = signOutAddress(here.box);
    const page = signOutPage({ ...formView(here), email: signedInUser.person.email, signOutAddress: address });
    send(response, pageAnswer(page), context.onAnswer);
  };
}

/** A logout request that can be trusted. */
type LogoutHint = Extract<ValidatedLogout, { readonly verdict: 'good' }>;

/**
 * Reads a logout request from a query without its question mark, or from the text of a form. Throws Problem for one
 * that cannot be trusted, `not-found`, and Outage.
 */
async function readLogoutHint({ context, here, response }: PageExchange, parameters: string): Promise<LogoutHint> {
  const validated = await validateLogout(here.box.state.box, parameters, context.oauth);
  if (validated === undefined) throw nothingHere();
  if (validated.verdict === 'good') return validated;
  throw refusedWith('logout-untrusted', response);
}
