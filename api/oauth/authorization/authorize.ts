import { randomUUID } from 'node:crypto';
import type { Box } from '../../../crds/box.ts';
import { browserHash } from '../../credentials/browser-token.ts';
import { readConsent, storeConsent } from '../../db/authorization/consent.ts';
import type { ConsentKey, NewConsent } from '../../db/authorization/consent.ts';
import {
  insertConsentRequest,
  readConsentRequest,
  takeConsentRequest,
} from '../../db/authorization/consent-request.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { BoxState } from '../../state/box-state.ts';
import { decideWithKey } from '../keys/decide-with-key.ts';
import { keyFor } from '../keys/key-needed.ts';
import { idTokenKeyFor } from '../openid/id-token.ts';
import type { OAuthServices } from '../services.ts';
import { lockCurrentSignIn } from '../session/signed-in.ts';
import { errorResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import { judgeAuthorizationRequest } from './authorization-request.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { issueCodeBatched } from './issue-code-batched.ts';
import { consentTarget } from './consent-target.ts';
import { isCoveredBy, scopesOf } from './covered-by-consent.ts';
import { issueAnswer } from './issue-answer.ts';
import { isTooOld } from './prompt.ts';
import { isProven } from './proven-client.ts';
import { givesIdToken, givesToken } from './response-type.ts';
import { shownDigest } from './shown-request.ts';
import { replaceIdToken } from './user-hint.ts';

/** A browser that sends an authorization request, or the answer to a question about one. */
export interface AuthorizationVisit {
  readonly box: string;
  /** The text of its cookie; undefined: it has none. */
  readonly browser: string | undefined;
  readonly remoteAddr: string | null;
  readonly userAgent: string | null;
}

/** A browser whose cookie is not read yet: the cookie's name depends on the issuer. */
export type AuthorizationArrival = Omit<AuthorizationVisit, 'browser'> & {
  readonly browserAt: (issuer: string) => string | undefined;
};

/** Next step: an error page, an answer to the client, the sign-in page, or the page that asks for consent. */
export type NextStep =
  | { readonly next: 'error-page' }
  | { readonly next: 'client'; readonly answer: AuthorizationResponse }
  | { readonly next: 'sign-in'; readonly query: string }
  | { readonly next: 'consent'; readonly id: string };

/** Next step, with the issuer and the settings of the box as of the decision. */
export interface Decided {
  readonly step: NextStep;
  readonly issuer: string;
  readonly settings: Box;
}

/** Milliseconds in which consent must be given. */
const consentTime = 10 * 60_000;

/**
 * Serves the authorization endpoint (RFC 6749 §3.1). `query` is as it came, without its question mark. Undefined when
 * there is no such box. Throws Outage.
 */
export function authorize(
  arrival: AuthorizationArrival,
  query: string,
  services: OAuthServices,
): Promise<Decided | undefined> {
  const judge: Judge = async (connection, state, request, signIn) => {
    const { prompt, place } = request;
    if (signIn === undefined || prompt.login) return toSignIn(request);
    if (isTooOld(prompt, signIn.createdAt, services.now())) {
      return toSignIn(request, 'The sign-in is older than max_age allows: the user must sign in again');
    }
    if (!prompt.consent && (await isAllowed(connection, state, request, signIn))) return 'allowed';
    if (prompt.none) {
      return { next: 'client', answer: errorResponse(place, 'consent_required', 'Consent has to be asked for') };
    }
    const id = randomUUID();
    const { query } = request;
    const expiresAt = services.now() + consentTime;
    await insertConsentRequest(connection, state.box, { id, browser: signIn.browser, query, expiresAt });
    return { next: 'consent', id };
  };
  return answering(arrival, query, services, judge, issueCodeBatched);
}

/** The answer of a user who was asked for consent. */
export interface Answered {
  readonly answer: 'allow' | 'deny';
  /** Digest of the request that the page showed ({@link shownDigest}). */
  readonly shown: string | undefined;
}

/**
 * Answers a request that waits for consent, once, in the browser that made it, otherwise with an error page. A request
 * that would be granted more than the page showed is shown again. Undefined when there is no such box. Throws Outage.
 */
export async function answerConsent(
  visit: AuthorizationVisit,
  id: string,
  { answer, shown }: Answered,
  services: OAuthServices,
): Promise<NextStep | undefined> {
  const query = await waitingRequest(visit, id, services);
  if (query === undefined) return { next: 'error-page' };
  const arrival = { ...visit, browserAt: () => visit.browser };
  const judge: Judge = async (connection, state, request, signIn) => {
    if (signIn === undefined) return toSignIn(request);
    if (answer === 'allow' && shown !== shownDigest(request)) return { next: 'consent', id };
    const key = { id, browser: signIn.browser, now: services.now() };
    if (!(await takeConsentRequest(connection, state.box, key))) return { next: 'error-page' };
    if (answer === 'deny') {
      return { next: 'client', answer: errorResponse(request.place, 'access_denied', 'The user denied access') };
    }
    await storeConsent(connection, state.box, consentKey(request, signIn), newConsent(request, state, services.now()));
    return 'allowed';
  };
  return (await answering(arrival, query, services, judge))?.step;
}

/** Returns the parameters of a request that waits for consent in this browser; undefined if none. Throws Outage. */
export async function waitingRequest(
  { box, browser }: Pick<AuthorizationVisit, 'box' | 'browser'>,
  id: string,
  services: OAuthServices,
): Promise<string | undefined> {
  if (browser === undefined || !/^[0-9a-f-]{36}$/.test(id)) return undefined;
  const key = { id, browser: browserHash(browser), now: services.now() };
  return inBox(services.pool, box, 'snapshot', (connection) => readConsentRequest(connection, box, key));
}

/** Judges the sign-in under the locks of the box's row and of the sign-in; `allowed` has the request answered. */
type Judge = (
  connection: Connection,
  state: BoxState,
  request: AuthorizationRequest,
  signIn: SignIn | undefined,
) => Promise<NextStep | 'allowed'>;

function answering(
  arrival: AuthorizationArrival,
  asked: string,
  services: OAuthServices,
  judge: Judge,
  atOnce?: typeof issueCodeBatched,
): Promise<Decided | undefined> {
  return decideWithKey<Decided>(arrival.box, services, async (state, statements, transaction) => {
    const { settings } = state;
    const issuer = services.issuer(state);
    const query = await replaceIdToken(asked, state, issuer, services.userHints);
    const judged = judgeAuthorizationRequest(query, state, issuer);
    const decided = (step: NextStep): Decided => ({ step, issuer, settings });
    if (judged.verdict === 'untrusted') return decided({ next: 'error-page' });
    if (judged.verdict === 'refused') return decided({ next: 'client', answer: judged.answer });
    const { request } = judged;
    const hinted = hintedUser(request, state, services);
    if (hinted === 'unreadable') return decided({ next: 'client', answer: badHint(request) });
    // No cookie, no session to look up: skip the transaction.
    const browser = arrival.browserAt(issuer);
    if (browser === undefined) return decided(toSignIn(request));
    const now = services.now();
    const visit = { ...arrival, browser };
    const code = await atOnce?.({ state, statements, request, visit, now });
    if (code !== undefined) {
      services.usage.tokenIssued(state.box, request.client.client.id, now);
      return decided({ next: 'client', answer: code });
    }
    const key = givesToken(request.type) ? keyFor(state, request.plan, now) : null;
    const idKey = givesIdToken(request.type) ? idTokenKeyFor(state, request.client.client, now) : null;
    const next = await transaction(async (connection): Promise<NextStep> => {
      const signIn = await lockCurrentSignIn(connection, state, browser, now);
      if (signIn !== undefined && isSomebodyElse(signIn, hinted, request)) {
        return { next: 'client', answer: errorResponse(request.place, 'login_required', 'Somebody else is signed in') };
      }
      const step = await judge(connection, state, request, signIn);
      if (step !== 'allowed' || signIn === undefined) return step === 'allowed' ? toSignIn(request) : step;
      const answer = await issueAnswer(connection, { state, request, signIn, visit, key, idKey, now });
      services.usage.tokenIssued(state.box, request.client.client.id, now);
      return { next: 'client', answer };
    });
    return decided(next);
  });
}

/** Returns the sign-in page; with `prompt=none` an error for the client instead (OpenID Connect Core §3.1.2.6). */
function toSignIn({ prompt, place, query }: AuthorizationRequest, reason = 'Nobody is signed in'): NextStep {
  if (!prompt.none) return { next: 'sign-in', query };
  return { next: 'client', answer: errorResponse(place, 'login_required', reason) };
}

/** Returns the user that the `id_token_hint` of a request named; undefined when it had none. */
function hintedUser(
  { userHint, client }: AuthorizationRequest,
  { box }: BoxState,
  { userHints }: OAuthServices,
): number | 'unreadable' | undefined {
  if (userHint === undefined) return undefined;
  return userHints.find(userHint, { box, client: client.client.id }) ?? 'unreadable';
}

function badHint({ place }: AuthorizationRequest): AuthorizationResponse {
  return errorResponse(place, 'invalid_request', 'id_token_hint must be an id_token of this client');
}

/** Checks whether the hint names another user, who will not be asked to sign in (OpenID Connect Core §3.1.2.1). */
function isSomebodyElse({ person }: SignIn, hinted: number | undefined, { prompt }: AuthorizationRequest): boolean {
  return hinted !== undefined && person.id !== hinted && !prompt.login;
}

/**
 * Checks whether a request needs no consent page. First-party clients never need one. Others do until everything they
 * request was allowed once for this target, and every time if nothing proves who receives the answer.
 */
async function isAllowed(
  connection: Connection,
  state: BoxState,
  request: AuthorizationRequest,
  signIn: SignIn,
): Promise<boolean> {
  if (request.client.client.first_party === true) return true;
  if (!isProven(request)) return false;
  return isCoveredBy(await readConsent(connection, state.box, consentKey(request, signIn)), request);
}

function consentKey(request: AuthorizationRequest, { person }: SignIn): ConsentKey {
  return { user: person.id, client: request.client.client.id, target: consentTarget(request) };
}

/** Returns the consent to what a request asks for. Scopes that were allowed before stay allowed. */
function newConsent({ client, plan }: AuthorizationRequest, { version }: BoxState, createdAt: number): NewConsent {
  return { scopes: scopesOf(plan.scope), version, since: client.sessionsFrom, createdAt };
}
