import type { Consent } from '../../db/authorization/consent.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import { mustAuthenticateForCode } from '../client-auth/authenticate-client.ts';
import { scopesOf } from '../scope-text.ts';
import { errorResponse } from './authorization-response.ts';
import { toSignIn } from './browser-request.ts';
import type { BrowserRequest, LockedSignIn, NextStep } from './browser-request.ts';
import type { AuthorizationRequest } from './request/authorization-request.ts';
import { isTooOld } from './request/prompt.ts';

/** Verdict on a sign-in: the step that ends the request, or `ask-consent`. */
export type Verdict = NextStep | 'ask-consent';

/**
 * Pure: validates one point of a request with the sign-in of its browser; undefined if there is nothing to object to.
 */
type Check<V = NextStep> = (requested: BrowserRequest, signIn: SignIn, consent: Consent | undefined) => V | undefined;

/** Refuses a user other than the one that the client expects (OpenID Connect Core §3.1.2.1, `id_token_hint`). */
const checkHint: Check = ({ hinted, request }, { person }) =>
  hinted === undefined || hinted === person.id
    ? undefined
    : { next: 'client', answer: errorResponse(request.target, 'login_required', 'Somebody else is signed in') };

/** Demands a recent sign-in (OpenID Connect Core §3.1.2.1, `max_age`). */
const checkMaxAge: Check = ({ request, now }, { createdAt }) =>
  isTooOld(request.prompt, createdAt, now)
    ? toSignIn(request, 'The sign-in is older than max_age allows: the user must sign in again')
    : undefined;

/**
 * Demands consent (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.4). First-party clients never need it, unless they ask
 * with `prompt=consent`. Others do until everything they request was allowed once for this target, and every time if
 * nothing proves who receives the answer.
 */
const checkConsent: Check<Verdict> = ({ request }, _signIn, consent) => {
  const { prompt, client, target } = request;
  const isAllowed = client.client.first_party === true || (isProven(request) && isCoveredBy(consent, request));
  if (isAllowed && !prompt.consent) return undefined;
  if (!prompt.none) return 'ask-consent';
  return { next: 'client', answer: errorResponse(target, 'consent_required', 'Consent has to be asked for') };
};

/**
 * Checks whether something proves the identity of the client that receives the answer: an https address, which nobody
 * else serves, or the authentication that redeeming its code requires. Any program of a device can listen on a loopback
 * address or register a private-use scheme (RFC 8252 §8.6), so a remembered consent must not be used there.
 */
function isProven({ client, type, target }: AuthorizationRequest): boolean {
  return /^https:/i.test(target.redirectUri) || (type === 'code' && mustAuthenticateForCode(client));
}

/** Checks whether a consent covers all that a request wants. A consent to an earlier client of this ID is ignored. */
function isCoveredBy(consent: Consent | undefined, { client, plan }: AuthorizationRequest): boolean {
  if (consent === undefined || consent.version < client.sessionsFrom) return false;
  return scopesOf(plan.scope).every((scope) => consent.scopes.includes(scope));
}

/** The checks of an authorization request, in their order. */
const requestChecks: readonly Check<Verdict>[] = [checkHint, checkMaxAge, checkConsent];

/** The checks of the answer to a consent page: its request was recent enough when the page was shown. */
const answerChecks: readonly Check[] = [checkHint];

/** Validated sign-in: valid for the request, or the verdict that ends it. */
export type ValidatedSignIn<V> =
  { readonly signIn: SignIn; readonly verdict?: undefined } | { readonly signIn?: undefined; readonly verdict: V };

/** Pure: runs the checks of an authorization request. */
export function validateSignIn(requested: BrowserRequest, found: LockedSignIn): ValidatedSignIn<Verdict> {
  return firstVerdict(requested, found, requestChecks);
}

/** Pure: runs the checks of the answer to a consent page. */
export function validateAnswering(requested: BrowserRequest, found: LockedSignIn): ValidatedSignIn<NextStep> {
  return firstVerdict(requested, found, answerChecks);
}

function firstVerdict<V>(
  requested: BrowserRequest,
  { signIn, consent }: LockedSignIn,
  checks: readonly Check<V>[],
): ValidatedSignIn<V | NextStep> {
  // Nobody is signed in, or `prompt` wants a new sign-in (OpenID Connect Core §3.1.2.3).
  if (signIn === undefined || requested.request.prompt.login) return { verdict: toSignIn(requested.request) };
  for (const check of checks) {
    const verdict = check(requested, signIn, consent);
    if (verdict !== undefined) return { verdict };
  }
  return { signIn };
}
