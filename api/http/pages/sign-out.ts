import { signedOutPage, signOutPage } from '../../pages/sign-in-page.ts';
import { signOut } from '../../users/sign-in.ts';
import type { ApiContext } from '../api-context.ts';
import type { Endpoint } from '../endpoint.ts';
import { send } from '../send.ts';
import { setCookie } from './browser-cookie.ts';
import { readPageForm } from './page-form.ts';
import { pageAnswer } from './send-page.ts';
import { formView, visit } from './visit.ts';
import type { Visit } from './visit.ts';
import { findVisitor, signOutAddress } from './visitor.ts';

/** `GET /auth/signout`: asks first, for any site can lead somebody here. */
export function signOutPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    const visitor = await findVisitor(context, here);
    const page =
      visitor === undefined
        ? signedOut(here)
        : signOutPage({
            ...formView(here),
            email: visitor.person.email,
            signOutAddress: signOutAddress(here.box),
          });
    send(response, pageAnswer(page), context.onAnswer);
  };
}

/** `POST /auth/signout`: the cookie stands for nobody any more, on any replica, and is taken away. */
export function signOutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await visit(context, request, response);
    const { box, browser } = here;
    await readPageForm(request, browser);
    await signOut(context.oauth, box.state.box, browser.token);
    const headers = { 'Set-Cookie': setCookie(box.state.box, box.issuer, '', 0) };
    send(response, pageAnswer(signedOut(here), { headers }), context.onAnswer);
  };
}

function signedOut({ language, box }: Visit) {
  return signedOutPage(language, box.look, `${box.issuer}/auth/signin`);
}
