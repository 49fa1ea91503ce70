import { formPostPage } from '../../pages/form-post-page.ts';
import { signOutPage } from '../../pages/signed-in-page.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { send } from '../server/send.ts';
import { goOn, leave } from './leave.ts';
import { readLogoutHint } from './logout-hint.ts';
import type { LogoutHint } from './logout-hint.ts';
import { readPostedQuery } from './posted-query.ts';
import { pageAnswer } from './send.ts';
import { formView, pageRequest } from './page-request.ts';
import type { PageExchange } from './page-request.ts';
import { findSignedInUser, signOutAddress } from './signed-in-user.ts';

/**
 * Answers `GET /auth/logout`: an app requests a logout (OpenID Connect RP-Initiated Logout §2). The user of its
 * id_token is signed out immediately; all others are asked, because any site can link here.
 */
export function logoutEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    const exchange = { context, here, request, response };
    const hint = await readLogoutHint(exchange, here.query.slice(1));
    if (hint !== undefined) await grant(exchange, hint);
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
    if (hint === undefined) return;
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
