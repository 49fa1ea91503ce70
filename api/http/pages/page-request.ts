import type { IncomingMessage, ServerResponse } from 'node:http';
import { browserHash, formToken, isFormToken } from '../../credentials/browser-token.ts';
import { chooseLanguage } from '../../pages/page.ts';
import type { Language, BoxLook } from '../../pages/page.ts';
import type { ApiContext } from '../server/api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import { browserOf, setCookie } from '../cookies/cookie.ts';
import type { Browser } from '../cookies/cookie.ts';
import type { Box } from '../../../crds/box.ts';
import type { BoxState } from '../../box/box-state.ts';
import { nothingHere, Problem } from '../../problem.ts';
import { replaceIdToken } from '../../oauth/authorization/request/user-hint.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import { currentSignIn } from '../../oauth/session/signed-in.ts';
import { parseParameters } from '../../oauth/token/parameters.ts';
import type { Parameters } from '../../oauth/token/parameters.ts';
import { describeRequest } from '../../oauth/authorization/request/describe-request.ts';
import type { Prompt } from '../../oauth/authorization/request/prompt.ts';

/** A visit to one of our pages. */
export interface PageRequest {
  readonly box: PageBox;
  readonly browser: Browser;
  readonly language: Language;
  /** The query with the question mark; empty if there is none. */
  readonly query: string;
}

/** A page's request, and the means to answer it. */
export interface PageExchange {
  readonly context: ApiContext;
  readonly here: PageRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Returns the browser and the box of a request. Throws Problem `not-found`, Outage. */
export async function pageRequest(
  context: ApiContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<PageRequest> {
  const { box: id, path } = requestContextOf(response);
  const box = await pageBox(context, id);
  return {
    box,
    browser: browserOf(request, id, box.issuer),
    language: chooseLanguage(request.headers['accept-language']),
    query: querySuffix(path),
  };
}

/** Returns the query of a path, with the question mark; empty if there is none. */
export function querySuffix(path: string): string {
  const at = path.indexOf('?');
  return at < 0 || at === path.length - 1 ? '' : path.slice(at);
}

/** Returns the common parts of every page with a form. */
export function formView({ box, browser, language }: PageRequest): FormView {
  return { language, look: box.look, formToken: formToken(browserHash(browser.token)) };
}

/** Result of {@link formView}. */
export interface FormView {
  readonly language: Language;
  readonly look: BoxLook;
  readonly formToken: string;
}

/** Returns Set-Cookie for a browser without a cookie; its form would be rejected otherwise. */
export function firstCookie({ box, browser }: PageRequest): Readonly<Record<string, string>> {
  if (!browser.isNew) return {};
  return { 'Set-Cookie': setCookie(box.state.box, box.issuer, browser.token) };
}

/** Settings of a box for its pages. */
export interface PageBox {
  readonly issuer: string;
  readonly look: BoxLook;
  /** True if nobody can sign in: the box is switched off, or its namespace is another one. */
  readonly isClosed: boolean;
  /** State at one config version. */
  readonly state: Pick<BoxState, 'box' | 'settings' | 'keys' | 'sessionsFrom' | 'revokedBefore'>;
}

/** Reads it; throws Problem `not-found` if there is no such box, and Outage. */
export async function pageBox(context: ApiContext, box: string): Promise<PageBox> {
  const { states, issuer } = context.oauth;
  const found = await states.decide(box, async (state) => {
    const { settings, keys, sessionsFrom, revokedBefore, builtInFrom } = state;
    const at = issuer(state);
    return {
      issuer: at,
      look: lookOf(settings, at),
      isClosed: settings.active === false || builtInFrom === undefined,
      state: { box, settings, keys, sessionsFrom, revokedBefore },
    };
  });
  if (found === undefined) throw nothingHere();
  return found;
}

/** Returns the look of the pages of a box. */
export function lookOf({ sign_in }: Box, issuer: string): BoxLook {
  return { name: sign_in?.title, logo: sign_in?.logo_url, color: sign_in?.color, issuer };
}

/**
 * Returns the visit to a page between an app's request and the return to the app: the query carries the app's request.
 * A link that was not made here may contain an `id_token_hint`; no address on the page does. Throws Problem
 * `not-found`, Outage.
 */
export async function appRequest(
  context: ApiContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<PageRequest> {
  const here = await pageRequest(context, request, response);
  if (here.query === '') return here;
  const { state, issuer } = here.box;
  return { ...here, query: `?${await replaceIdToken(here.query.slice(1), state, issuer, context.oauth.userHints)}` };
}

/**
 * Reads a form that another site may have sent, as the query of the same request by GET, in ASCII: bytes beyond it are
 * percent-encoded. A form of another site sends no cookie. Throws Problem `unsupported-media-type`, `too-large`.
 */
export async function readPostedQuery(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, bodyLimits.oauth);
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new Problem('unsupported-media-type', 'Content-Type must be application/x-www-form-urlencoded');
  }
  return body.toString('latin1').replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
}

/** Finds the sign-in of a page's visitor; undefined if nobody is signed in there. Throws Outage. */
export async function findSignedInUser(
  { oauth }: ApiContext,
  { box, browser }: PageRequest,
): Promise<SignIn | undefined> {
  // No cookie, no session to look up: skip the statement.
  if (browser.isNew) return undefined;
  return inBox(oauth.pool, box.state.box, 'snapshot', (connection) =>
    currentSignIn(connection, box.state, browser.token, oauth.now()),
  );
}

/** Returns the target of the button to sign out. */
export function signOutAddress({ issuer }: PageBox): string {
  return `${issuer}/auth/signout`;
}

/** A form of one of our pages. */
interface PageForm {
  readonly form: Parameters;
  /** The sign-in that has replaced the cookie for which the form was made, in another tab; undefined: none has. */
  readonly signedInSince: SignIn | undefined;
}

/**
 * Reads the form of one of our pages. Throws Problem `forbidden` if another site sent it, or if it was created for
 * another browser.
 */
export async function readPageForm(
  context: ApiContext,
  here: PageRequest,
  request: IncomingMessage,
): Promise<PageForm> {
  const { browser } = here;
  const body = await readBody(request, bodyLimits.oauth);
  // Most browsers send this header; the token in the form stops the others.
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if (site !== 'same-origin' && site !== 'none') throw forged();
  if (browser.isNew) throw forged();
  const form = parseParameters(request.headers['content-type'], body);
  const text = form.get('form_token');
  if (isFormToken(text, browserHash(browser.token))) return { form, signedInSince: undefined };
  const signedInSince = await findSignedInUser(context, here);
  if (signedInSince?.replaced.some((hash) => isFormToken(text, hash)) !== true) throw forged();
  return { form, signedInSince };
}

function forged(): Problem {
  return new Problem('forbidden', 'The form was not made for this browser');
}

/** The app that a user comes from, and the user that it expects. */
interface AuthorizationHint {
  readonly app: string | undefined;
  readonly email: string | undefined;
  /** Undefined for a request that its client will get an error for. */
  readonly prompt: Prompt | undefined;
}

/** Reads the app from the address of a page; undefined if the user does not come from one. Throws Outage. */
export async function authorizationHint(
  { oauth }: ApiContext,
  { box, query }: PageRequest,
): Promise<AuthorizationHint | 'untrusted' | undefined> {
  if (!hasRequest(query)) return undefined;
  const described = await describeRequest(box.state.box, query.slice(1), oauth);
  if (described === 'untrusted') return 'untrusted';
  if (described === 'refused' || described === undefined)
    return { app: undefined, email: undefined, prompt: undefined };
  const { client, loginHint, prompt } = described;
  return { app: client.name ?? client.id, email: loginHint, prompt };
}

/** Checks for an authorization request, which the page's address carries: nothing is stored before the sign-in. */
export function hasRequest(query: string): boolean {
  return new URLSearchParams(query).has('client_id');
}
