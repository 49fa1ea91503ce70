import { describeRequest } from '../../oauth/authorization/describe-request.ts';
import { afterSignIn } from '../../oauth/authorization/prompt.ts';
import { signedInPage, signInPage } from '../../pages/sign-in-page.ts';
import type { ApiContext } from '../api-context.ts';
import type { Endpoint } from '../endpoint.ts';
import { exchangeOf } from '../exchange.ts';
import { send } from '../send.ts';
import { follow } from './authorize.ts';
import { setCookie } from './browser-cookie.ts';
import { guessPassword } from './guess-password.ts';
import { readPageForm } from './page-form.ts';
import { pageAnswer, sendOn } from './send-page.ts';
import { findVisitor, signOutAddress } from './visitor.ts';
import { firstCookie, formView, visit } from './visit.ts';
import type { Visit } from './visit.ts';

/** `GET /auth/signin`: asks for email and password, or says who is signed in. */
export function signInPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    const wish = await appsWish(context, here);
    if (wish === 'untrusted') {
      follow({ next: 'error-page' }, 'untrusted', { here, request, response, context });
      return;
    }
    // Who comes from an app is to sign in, whoever is signed in.
    const visitor = wish === undefined ? await findVisitor(context, here) : undefined;
    const view = formView(here);
    const page =
      visitor === undefined
        ? signInPage({ ...view, app: wish?.app, email: wish?.email ?? '', failed: false })
        : signedInPage({ ...view, email: visitor.person.email, signOutAddress: signOutAddress(here.box) });
    send(response, pageAnswer(page, { headers: firstCookie(here), leaves: wish !== undefined }), context.onAnswer);
  };
}

/**
 * `POST /auth/signin`: the same answer for a wrong password and an account that is not there. Whoever
 * signs in gets a new cookie.
 */
export function signInEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    const { box, browser, query } = here;
    const form = await readPageForm(request, browser);
    const [email, password] = [form.get('email') ?? '', form.get('password') ?? ''];
    const { remoteAddr } = exchangeOf(response);
    const signedIn = await guessPassword(context, box, { email, password, browser: browser.token }, remoteAddr);
    if (signedIn === undefined) {
      const wish = await appsWish(context, here);
      const app = wish === 'untrusted' ? undefined : wish?.app;
      const page = signInPage({ ...formView(here), app, email, failed: true });
      send(response, pageAnswer(page, { leaves: wish !== undefined }), context.onAnswer);
      return;
    }
    const cookie = setCookie(box.state.box, box.issuer, signedIn.browser, signedIn.lifetime);
    const next = hasRequest(query) ? `/auth/authorize?${afterSignIn(query.slice(1))}` : '/auth/signin';
    sendOn(response, box.issuer + next, context.onAnswer, { 'Set-Cookie': cookie });
  };
}

/** The app that somebody comes from, and who it thinks they are; undefined: from none. */
async function appsWish(
  { oauth }: ApiContext,
  { box, query }: Visit,
): Promise<{ readonly app: string | undefined; readonly email: string | undefined } | 'untrusted' | undefined> {
  if (!hasRequest(query)) return undefined;
  const described = await describeRequest(box.state.box, query.slice(1), oauth);
  if (described === 'untrusted') return 'untrusted';
  if (described === 'refused' || described === undefined) return { app: undefined, email: undefined };
  return { app: described.client.name ?? described.client.id, email: described.loginHint };
}

/** The address of the page carries the authorization request that it is for: nothing is stored for who has not signed in. */
function hasRequest(query: string): boolean {
  return new URLSearchParams(query).has('client_id');
}
