import type { IncomingMessage, ServerResponse } from 'node:http';
import { judgeLogout } from '../../oauth/openid/logout-request.ts';
import { problemPage } from '../../pages/problem-page.ts';
import { signOutPage, signedOutPage } from '../../pages/signed-in-page.ts';
import { signOut } from '../../users/sign-in.ts';
import type { ApiContext } from '../api-context.ts';
import type { Endpoint } from '../endpoint.ts';
import { exchangeOf } from '../exchange.ts';
import { nothingHere } from '../nothing-here.ts';
import { send } from '../send.ts';
import { setCookie } from './browser-cookie.ts';
import { readPageForm } from './page-form.ts';
import { readPostedQuery } from './posted-query.ts';
import { pageAnswer, sendOn } from './send-page.ts';
import { formView, visit } from './visit.ts';
import type { Visit } from './visit.ts';
import { findVisitor, signOutAddress } from './visitor.ts';

/**
 * `GET /auth/logout`: an app wants somebody signed out (OpenID Connect RP-Initiated Logout §2). Whom its id_token is about is
 * signed out at once; all others are asked, for any site can lead somebody here.
 */
export function logoutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    const wish = await readWish(context, here, request, response);
    if (wish === undefined) return;
    const visitor = await findVisitor(context, here);
    if (visitor === undefined) {
      goOn(context, here, response, wish.address);
    } else if (visitor.person.id === wish.user) {
      await leave(context, here, response, wish.address);
    } else {
      const address = signOutAddress(here.box) + here.query;
      const page = signOutPage({ ...formView(here), email: visitor.person.email, signOutAddress: address });
      send(response, pageAnswer(page, { leaves: wish.address !== undefined }), context.onAnswer);
    }
  };
}

/** `POST /auth/logout`: the same once more, by GET. */
export function postedLogoutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const query = await readPostedQuery(request);
    const { box } = await visit(context, request, response);
    sendOn(response, `${box.issuer}/auth/logout?${query}`, context.onAnswer);
  };
}

/**
 * `POST /auth/signout`: the cookie stands for nobody any more, on any replica, and is taken away. The query is that of the
 * logout request that led here, or empty.
 */
export function signOutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    await readPageForm(request, here.browser);
    const wish = await readWish(context, here, request, response);
    if (wish !== undefined) await leave(context, here, response, wish.address);
  };
}

/** `GET /auth/signout`: asks first, for any site can lead somebody here. */
export function signOutPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    const visitor = await findVisitor(context, here);
    if (visitor === undefined) {
      goOn(context, here, response, undefined);
      return;
    }
    const address = signOutAddress(here.box);
    const page = signOutPage({ ...formView(here), email: visitor.person.email, signOutAddress: address });
    send(response, pageAnswer(page), context.onAnswer);
  };
}

/** Undefined when it cannot be trusted: that is answered already. */
async function readWish(
  { oauth, onAnswer }: ApiContext,
  { box, query }: Visit,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ readonly user: number | undefined; readonly address: string | undefined } | undefined> {
  const judged = await judgeLogout(box.state.box, query.slice(1), oauth);
  if (judged === undefined) throw nothingHere();
  if (judged.verdict === 'good') return judged;
  const { requestId } = exchangeOf(response);
  const page = problemPage('logout-untrusted', request.headers['accept-language'], requestId);
  send(response, pageAnswer(page, { status: 400 }), onAnswer);
  return undefined;
}

async function leave(context: ApiContext, here: Visit, response: ServerResponse, address?: string): Promise<void> {
  const { box, browser } = here;
  await signOut(context.oauth, box.state.box, browser.token);
  goOn(context, here, response, address, { 'Set-Cookie': setCookie(box.state.box, box.issuer, '', 0) });
}

/** Back to the app, or to a page that says that nobody is signed in. */
function goOn(
  { onAnswer }: ApiContext,
  { language, box }: Visit,
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
