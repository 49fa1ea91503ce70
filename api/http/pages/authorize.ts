import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorize, answerConsent, waitingRequest } from '../../oauth/authorization/authorize.ts';
import type { AuthorizationResponse } from '../../oauth/authorization/authorization-response.ts';
import type { AuthorizationVisit, NextStep } from '../../oauth/authorization/browser-request.ts';
import { clientOf } from '../../oauth/built-in-clients.ts';
import { replaceIdToken } from '../../oauth/authorization/request/user-hint.ts';
import { formPostPage } from '../../pages/form-post-page.ts';
import { chooseLanguage } from '../../pages/page.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { LONGEST_SENT } from '../../schemas/refusals.ts';
import { requestContextOf } from '../request/request-context.ts';
import { nothingHere } from '../../problem.ts';
import { send } from '../server/send.ts';
import { browserOf } from '../cookies/cookie.ts';
import type { Browser } from '../cookies/cookie.ts';
import {
  lookOf,
  querySuffix,
  pageRequest,
  readPostedQuery,
  readPageForm,
  formView,
  findSignedInUser,
} from './page-request.ts';
import type { PageBox, PageRequest } from './page-request.ts';
import { pageAnswer, sendOn, refusedWith } from './send.ts';
import { describeRequest } from '../../oauth/authorization/request/describe-request.ts';
import { consentPage } from '../../pages/consent-page.ts';

/** `GET /auth/authorize`, RFC 6749 §3.1. */
export function authorizeEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const { box, path } = requestContextOf(response);
    const browserAt = (issuer: string): string | undefined => knownBrowser(browserOf(request, box, issuer));
    const arrival = { box, browserAt, ...originOf(request, response) };
    // The box is not read before: the decision reads it.
    const decided = await authorize(arrival, querySuffix(path).slice(1), context.oauth);
    if (decided === undefined) throw nothingHere();
    const { step, issuer, settings } = decided;
    const language = chooseLanguage(request.headers['accept-language']);
    const here = { language, box: { issuer, look: lookOf(settings, issuer) } };
    if (step.next === 'error-page') await noteUntrusted(context, response, issuer);
    follow(step, 'untrusted', { here, response, context });
  };
}

/**
 * Notes why an authorization request is not trusted. What was sent and what is listed goes to the log, and to the page
 * where a developer runs the API for an issuer on the same machine.
 */
async function noteUntrusted({ oauth }: ApiContext, response: ServerResponse, issuer: string): Promise<void> {
  const requestContext = requestContextOf(response);
  const { box } = requestContext;
  const parameters = new URLSearchParams(querySuffix(requestContext.path));
  const id = parameters.get('client_id') ?? '';
  const found = await oauth.states.decide(box, async (state) => ({ client: clientOf(state, id, issuer)?.client }));
  const client = found?.client;
  if (client === undefined) {
    requestContext.refusal = { reason: 'unknown_client', sent: `client_id ${id}` };
    return;
  }
  requestContext.client = id;
  const sent = `redirect_uri ${parameters.get('redirect_uri') ?? '(none)'}`;
  requestContext.refusal = { reason: 'redirect_uri_not_listed', sent, target: `Client/${id}`, by: { client: id } };
  if (oauth.folder === undefined || !LOOPBACK.test(issuer)) return;
  const { authorization_code: code, implicit } = client.auth ?? {};
  const listed = [code, implicit].flatMap((one) => [one?.redirect_uri ?? [], one?.redirect_uris ?? []].flat());
  requestContext.advice = `${sent.slice(0, LONGEST_SENT)} is not listed by the client ${id}. It lists: ${[...new Set(listed)].join(', ')}`;
}

const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/;

/**
 * `POST /auth/authorize`, RFC 6749 §3.1: redirects to the same request by GET. A form of another site sends no cookie,
 * and a signed-in user would have to sign in again. An id_token of the form is not put into an address.
 */
export function postedAuthorizeEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const form = await readPostedQuery(request);
    const { box } = await pageRequest(context, request, response);
    const query = await replaceIdToken(form, box.state, box.issuer, context.oauth.userHints);
    sendOn(response, `${box.issuer}/auth/authorize?${query}`, context.onAnswer);
  };
}

/** Returns the browser of a visit, as the authorization endpoint expects it. */
function authorizationVisit(
  { box, browser }: PageRequest,
  request: IncomingMessage,
  response: ServerResponse,
): AuthorizationVisit {
  return { box: box.state.box, browser: knownBrowser(browser), ...originOf(request, response) };
}

function knownBrowser({ isNew, token }: Browser): string | undefined {
  return isNew ? undefined : token;
}

function originOf(
  request: IncomingMessage,
  response: ServerResponse,
): Pick<AuthorizationVisit, 'remoteAddr' | 'userAgent' | 'requestId'> {
  const { remoteAddr, requestId } = requestContextOf(response);
  return {
    requestId,
    remoteAddr: remoteAddr === '' ? null : remoteAddr,
    userAgent: request.headers['user-agent']?.slice(0, longestUserAgent).toWellFormed() ?? null,
  };
}

const longestUserAgent = 512;

/** Parts of a request for {@link follow}. */
interface Following {
  readonly here: Pick<PageRequest, 'language'> & { readonly box: Pick<PageBox, 'issuer' | 'look'> };
  readonly response: ServerResponse;
  readonly context: ApiContext;
}

/** Performs the next step of an authorization request. Throws Problem for an error page, whose text `wrong` selects. */
function follow(
  step: NextStep,
  wrong: 'untrusted' | 'expired' | 'closed',
  { here, response, context }: Following,
): void {
  const { issuer } = here.box;
  switch (step.next) {
    case 'error-page':
      throw refusedWith(wrong, response);
    case 'sign-in':
      sendOn(response, `${issuer}/auth/signin?${step.query}`, context.onAnswer);
      return;
    case 'consent':
      sendOn(response, `${issuer}/auth/consent?id=${step.id}`, context.onAnswer);
      return;
    case 'client':
      requestContextOf(response).refusal = step.details;
      bring(step.answer, { here, response, context });
  }
}

function bring({ address, fields }: AuthorizationResponse, { here, response, context }: Following): void {
  if (fields === undefined) {
    // 302, which browsers follow with GET. 307 would send a form's fields to the app (RFC 9700 §4.12).
    send(response, { status: 302, headers: { Location: address } }, context.onAnswer);
    return;
  }
  const page = formPostPage({ language: here.language, look: here.box.look, address, fields });
  send(response, pageAnswer(page, { leaves: true }), context.onAnswer);
}

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
