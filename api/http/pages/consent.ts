import { answerConsent, waitingRequest } from '../../oauth/authorization/authorize.ts';
import { describeRequest } from '../../oauth/authorization/request/describe-request.ts';
import { consentPage } from '../../pages/consent-page.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { nothingHere } from '../../problem.ts';
import { send } from '../server/send.ts';
import { authorizationVisit, follow } from './authorize.ts';
import { readPageForm, formView, pageRequest, findSignedInUser } from './page-request.ts';
import { pageAnswer, refusedWith } from './send.ts';

/** `GET /auth/consent?id=…`: shows an app's request to the browser that sent it. */
export function consentPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    const { oauth, onAnswer } = context;
    const { box } = here.box.state;
    const id = new URLSearchParams(here.query).get('id') ?? '';
    const query = await waitingRequest(authorizationVisit(here, request, response), id, oauth);
    const signedInUser = await findSignedInUser(context, here);
    const described = query === undefined ? 'untrusted' : await describeRequest(box, query, oauth);
    if (described === 'untrusted' || described === 'refused' || described === undefined || signedInUser === undefined) {
      throw refusedWith('expired', response);
    }
    const goesTo = hostOf(described.redirectUri);
    const page = consentPage({ ...formView(here), ...described, id, goesTo, email: signedInUser.person.email });
    send(response, pageAnswer(page, { leaves: true }), onAnswer);
  };
}

/** `POST /auth/consent`: reads the user's answer; only `allow` grants. */
export function consentEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const here = await pageRequest(context, request, response);
    const { form, signedInSince } = await readPageForm(context, here, request);
    const id = form.get('id') ?? '';
    if (signedInSince !== undefined) {
      // Perhaps as somebody else: the page says who.
      follow({ next: 'consent', id: encodeURIComponent(id) }, 'expired', { here, response, context });
      return;
    }
    const answer = form.get('answer') === 'allow' ? 'allow' : 'deny';
    const answered = { id, answer, shown: form.get('shown') } as const;
    const who = authorizationVisit(here, request, response);
    const step = await answerConsent(who, answered, context.oauth);
    if (step === undefined) throw nothingHere();
    follow(step, 'expired', { here, response, context });
  };
}

/**
 * Returns the host of a redirect URI; for an app on a device the scheme that opens it, whatever it has as a host. A
 * host that no browser takes, such as `999.1.1.1`, is shown with its address.
 */
function hostOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return redirectUri;
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol;
}
