import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorize } from '../../oauth/authorization/authorize.ts';
import type { AuthorizationResponse } from '../../oauth/authorization/authorization-response.ts';
import type { AuthorizationVisit, NextStep } from '../../oauth/authorization/browser-request.ts';
import { replaceIdToken } from '../../oauth/authorization/request/user-hint.ts';
import { formPostPage } from '../../pages/form-post-page.ts';
import { chooseLanguage } from '../../pages/language.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import { nothingHere } from '../../nothing-here.ts';
import { send } from '../server/send.ts';
import { browserOf } from '../cookies/cookie.ts';
import type { Browser } from '../cookies/cookie.ts';
import { lookOf } from './page-box.ts';
import type { PageBox } from './page-box.ts';
import { readPostedQuery } from './posted-query.ts';
import { pageAnswer, sendOn, sendProblem } from './send.ts';
import type { PageRequest } from './page-request.ts';
import { querySuffix, pageRequest } from './page-request.ts';

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
    follow(step, 'untrusted', { here, request, response, context });
  };
}

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
export function authorizationVisit(
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
export interface Following {
  readonly here: Pick<PageRequest, 'language'> & { readonly box: Pick<PageBox, 'issuer' | 'look'> };
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: ApiContext;
}

/** Performs the next step of an authorization request; `wrong` selects the text of an error page. */
export function follow(
  step: NextStep,
  wrong: 'untrusted' | 'expired' | 'closed',
  { here, request, response, context }: Following,
): void {
  const { issuer } = here.box;
  switch (step.next) {
    case 'error-page':
      sendProblem(wrong, { request, response, context });
      return;
    case 'sign-in':
      sendOn(response, `${issuer}/auth/signin?${step.query}`, context.onAnswer);
      return;
    case 'consent':
      sendOn(response, `${issuer}/auth/consent?id=${step.id}`, context.onAnswer);
      return;
    case 'client':
      bring(step.answer, { here, response, context });
  }
}

function bring(
  { address, fields }: AuthorizationResponse,
  { here, response, context }: Omit<Following, 'request'>,
): void {
  if (fields === undefined) {
    // 302, which browsers follow with GET. 307 would send a form's fields to the app (RFC 9700 §4.12).
    send(response, { status: 302, headers: { Location: address } }, context.onAnswer);
    return;
  }
  const page = formPostPage({ language: here.language, look: here.box.look, address, fields });
  send(response, pageAnswer(page, { leaves: true }), context.onAnswer);
}
