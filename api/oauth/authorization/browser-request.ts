import type { Box } from '../../../crds/box.ts';
import { browserHash } from '../../credentials/browser-token.ts';
import { readConsent } from '../../db/authorization/consent.ts';
import type { Consent, ConsentTarget } from '../../db/authorization/consent.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { Transaction } from '../../box/state-cache.ts';
import { decideWithKey } from '../keys/key-needed.ts';
import { KEY_GONE, replaceIdToken } from './request/user-hint.ts';
import type { OAuthServices } from '../services.ts';
import type { RefusalDetails } from '../../schemas/refusals.ts';
import { lockCurrentSignIn } from '../session/signed-in.ts';
import { validateAuthorizationRequest } from './request/authorization-request.ts';
import type { AuthorizationRequest } from './request/authorization-request.ts';
import { errorResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';

/** A browser that sends an authorization request, or the answer to a question about one. */
export interface AuthorizationVisit {
  readonly box: string;
  /** The text of its cookie; undefined: it has none. */
  readonly browser: string | undefined;
  readonly remoteAddr: string | null;
  readonly userAgent: string | null;
  readonly requestId?: string | undefined;
}

/** A browser whose cookie is not read yet: the cookie's name depends on the issuer. */
export type AuthorizationArrival = Omit<AuthorizationVisit, 'browser'> & {
  readonly browserAt: (issuer: string) => string | undefined;
};

/** Next step: an error page, an answer to the client, the sign-in page, or the page that asks for consent. */
export type NextStep =
  | { readonly next: 'error-page' }
  | { readonly next: 'client'; readonly answer: AuthorizationResponse; readonly details?: RefusalDetails | undefined }
  | { readonly next: 'sign-in'; readonly query: string }
  | { readonly next: 'consent'; readonly id: string };

/** Next step, with the issuer and the settings of the box as of the decision. */
export interface Decided {
  readonly step: NextStep;
  readonly issuer: string;
  readonly settings: Box;
}

/** A valid authorization request of a browser with a cookie, under one configuration. */
export interface BrowserRequest {
  readonly state: BoxState;
  readonly transaction: Transaction;
  readonly request: AuthorizationRequest;
  /** SHA-256 of the text in the browser's cookie, 64 hexadecimal digits. */
  readonly browser: string;
  /** User that the `id_token_hint` names; undefined: it has none. */
  readonly hinted: number | undefined;
  readonly origin: Pick<AuthorizationVisit, 'remoteAddr' | 'userAgent'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Reads an authorization request (RFC 6749 §4.1.1) and has `decide` answer it under the current configuration, unless
 * its parameters or a missing cookie do. `text` is its query as it came, without the question mark. Undefined when
 * there is no such box. Throws Outage.
 */
export function onBrowserRequest(
  arrival: AuthorizationArrival,
  text: string,
  services: OAuthServices,
  decide: (requested: BrowserRequest) => Promise<NextStep>,
): Promise<Decided | undefined> {
  return decideWithKey<Decided>(arrival.box, services, async (state, _statements, transaction) => {
    const issuer = services.issuer(state);
    const decided = (step: NextStep): Decided => ({ step, issuer, settings: state.settings });
    const query = await replaceIdToken(text, state, issuer, services.userHints);
    const validated = validateAuthorizationRequest(query, state, issuer);
    if (validated.verdict === 'untrusted') return decided({ next: 'error-page' });
    if (validated.verdict === 'refused') return decided({ next: 'client', ...validated });
    const { request } = validated;
    const hinted = hintedUser(request, state, services);
    if (typeof hinted === 'object') return decided(hinted);
    // Without a cookie there is no sign-in to look up.
    const cookie = arrival.browserAt(issuer);
    if (cookie === undefined) return decided(toSignIn(request));
    const browser = browserHash(cookie);
    const now = services.now();
    const { remoteAddr, userAgent } = arrival;
    const origin = { remoteAddr, userAgent };
    return decided(await decide({ state, transaction, request, browser, hinted, origin, now }));
  });
}

/** Returns the sign-in page; with `prompt=none` an error for the client instead (OpenID Connect Core §3.1.2.6). */
export function toSignIn({ prompt, target, query }: AuthorizationRequest, reason = 'Nobody is signed in'): NextStep {
  if (!prompt.none) return { next: 'sign-in', query };
  return { next: 'client', answer: errorResponse(target, 'login_required', reason) };
}

/** The valid sign-in of a browser, in a transaction that holds the box. */
export interface LockedSignIn {
  readonly connection: Connection;
  /** Undefined: nobody is signed in. */
  readonly signIn: SignIn | undefined;
  /** Consent of its user for the target of the request; undefined: none, or the client needs none. */
  readonly consent: Consent | undefined;
}

/**
 * Runs work in one transaction that holds the box and the sign-in of a request: a change of the box and a sign-out come
 * wholly before or wholly after it. Throws Outage.
 */
export function withLockedSignIn<T>(
  { state, transaction, request, browser, now }: BrowserRequest,
  work: (locked: LockedSignIn) => Promise<T>,
): Promise<T> {
  const { client } = request.client;
  return transaction(async (connection) => {
    const signIn = await lockCurrentSignIn(connection, state, browser, now);
    if (signIn === undefined || client.first_party === true) return work({ connection, signIn, consent: undefined });
    const key = { user: signIn.person.id, client: client.id, target: consentTarget(request) };
    return work({ connection, signIn, consent: await readConsent(connection, state.box, key) });
  });
}

/** Returns the target that a consent to a request is for: the redirect URI as configured, and the audience. */
export function consentTarget({ target, plan }: Pick<AuthorizationRequest, 'target' | 'plan'>): ConsentTarget {
  const [audience = null] = plan.audience ?? [];
  return { redirectUri: target.configuredUri, audience: audience === target.issuer ? null : audience };
}

/**
 * Returns the user that the `id_token_hint` or the `claims` of a request named, undefined when it named none, or the
 * answer to a hint that cannot be used (OpenID Connect Core §3.1.2.1). A hint whose key has been deleted is ignored if
 * a user can sign in.
 */
function hintedUser(
  request: AuthorizationRequest,
  { box }: BoxState,
  { userHints }: OAuthServices,
): number | NextStep | undefined {
  const { userHint, client, prompt } = request;
  const demanded = demandedUser(request);
  if (userHint === undefined) return demanded;
  if (userHint !== KEY_GONE) {
    const hinted = userHints.find(userHint, { box, client: client.client.id });
    return hinted === undefined || hinted !== (demanded ?? hinted) ? badHint(request) : hinted;
  }
  return prompt.none ? toSignIn(request, 'The key of the id_token_hint has been deleted') : demanded;
}

/** Returns the ID of the user that `claims` demands; one that no user has if it is not the ID of a user. */
function demandedUser({ demandedUser: subject }: AuthorizationRequest): number | undefined {
  if (subject === undefined) return undefined;
  return typeof subject === 'string' && /^\d{1,15}$/.test(subject) ? Number(subject) : -1;
}

function badHint({ target }: AuthorizationRequest): NextStep {
  return {
    next: 'client',
    answer: errorResponse(target, 'invalid_request', 'id_token_hint must be an id_token of this client'),
  };
}
