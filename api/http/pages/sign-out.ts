import { signOutPage } from '../../pages/signed-in-page.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { send } from '../server/send.ts';
import { goOn, leave } from './leave.ts';
import { readLogoutHint } from './logout-hint.ts';
import { readPageForm } from './page-form.ts';
import { pageAnswer } from './send.ts';
import { formView, pageRequest } from './page-request.ts';
import { findSignedInUser, signOutAddress } from './signed-in-user.ts';

/**
 * `POST /auth/signout`: ends the sign-in of the cookie on all replicas, and deletes the cookie. The query is that of
 * the logout request that led here, without its id_token, or empty.
 */
export function signOutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    await readPageForm(context, here, request);
    const exchange = { context, here, request, response };
    const hint = await readLogoutHint(exchange, here.query.slice(1));
    if (hint !== undefined) await leave(exchange, hint);
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
