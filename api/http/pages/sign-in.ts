import { signInPage } from '../../pages/sign-in-page.ts';
import { signedInPage } from '../../pages/signed-in-page.ts';
import { isOpenForSignUp } from '../../users/sign-in/sign-up.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import { send } from '../server/send.ts';
import { goOnSignedIn } from './after-sign-in.ts';
import { authorizationHint } from './authorization-hint.ts';
import { appRequest } from './app-request.ts';
import { guessPassword } from './guess-password.ts';
import { readPageForm } from './page-form.ts';
import { pageAnswer, sendProblem } from './send.ts';
import { findSignedInUser, signOutAddress } from './signed-in-user.ts';
import { deviceTokenOf } from '../cookies/device-cookie.ts';
import { firstCookie, formView } from './page-request.ts';
import type { PageRequest } from './page-request.ts';

/** `GET /auth/signin`: asks for email and password, or shows the signed-in user. */
export function signInPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await appRequest(context, request, response);
    const hint = here.box.isClosed ? 'closed' : await authorizationHint(context, here);
    if (hint === 'untrusted' || hint === 'closed') {
      sendProblem(hint, { request, response, context });
      return;
    }
    // A user who comes from an app must sign in, even if already signed in.
    const signedInUser = hint === undefined ? await findSignedInUser(context, here) : undefined;
    const view = formView(here);
    const page =
      signedInUser === undefined
        ? signInPage({ ...signInView(here), app: hint?.app, email: hint?.email ?? '', failed: false })
        : signedInPage({ ...view, email: signedInUser.person.email, signOutAddress: signOutAddress(here.box) });
    send(response, pageAnswer(page, { headers: firstCookie(here), leaves: hint !== undefined }), context.onAnswer);
  };
}

/**
 * `POST /auth/signin`: gives the same answer for a wrong password and a missing account. A sign-in sets
 * a new cookie.
 */
export function signInEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await appRequest(context, request, response);
    const { box, browser } = here;
    if (box.isClosed) {
      sendProblem('closed', { request, response, context });
      return;
    }
    const form = await readPageForm(request, browser);
    const [email, password] = [(form.get('email') ?? '').trim(), form.get('password') ?? ''];
    const { remoteAddr, requestId } = requestContextOf(response);
    const visitor = { address: remoteAddr, requestId, device: deviceTokenOf(request, box.state.box, box.issuer) };
    const signedIn = await guessPassword(context, box, { email, password, browser: browser.token }, visitor);
    if (signedIn !== undefined) {
      const { id } = signedIn.user;
      const origin = { user: id, remoteAddr, requestId };
      const note = (event: 'user.signed_in' | 'user.signed_out', user: number): void => {
        context.oauth.countedEvents.note({ box: box.state.box, event, target: `User/${String(user)}`, origin });
      };
      for (const user of signedIn.signedOut) note('user.signed_out', user);
      note('user.signed_in', id);
      goOnSignedIn({ context, here, request, response }, signedIn);
      return;
    }
    const hint = await authorizationHint(context, here);
    const app = hint === 'untrusted' ? undefined : hint?.app;
    const page = signInPage({ ...signInView(here), app, email, failed: true });
    send(response, pageAnswer(page, { leaves: hint !== undefined }), context.onAnswer);
  };
}

function signInView(here: PageRequest) {
  const { box, query } = here;
  const signUpAddress = isOpenForSignUp(box.state.settings) ? `${box.issuer}/auth/signup${query}` : undefined;
  return { ...formView(here), signUpAddress };
}
