import { makeCode } from '../../credentials/code-text.ts';
import type { FoundSignIn } from '../../db/authorization/sign-in-statement.ts';
import type { CurrentStatements } from '../../state/current-statements.ts';
import { claimsFor } from '../scope-text.ts';
import { authorizationResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import type { BrowserRequest } from './browser-request.ts';

/** Milliseconds for which a code is valid (RFC 6749 §4.1.2 allows ten minutes at most). */
const codeTime = 60_000;
/** Milliseconds in which a second use of a code is recognized. */
const day = 86_400_000;

/**
 * Issues a code (RFC 6749 §4.1.2) to a signed-in user whose request passed all checks. Undefined if the sign-in, the
 * consent or the box changed since they were read, or is being changed: nothing is stored then. Throws Outage.
 *
 * The statement holds the box (boxgate.hold_boxes) at the version that was read with the sign-in. Then nothing has
 * ended what a user, a client or a box began, nor can it before the code is stored. A sign-out does not hold the box:
 * the row of the sign-in is locked, and must still exist. The consent is read again under the box's lock.
 */
export async function issueCode(
  asked: BrowserRequest,
  signIn: FoundSignIn,
  statements: CurrentStatements,
): Promise<AuthorizationResponse | undefined> {
  const { state, request, target } = asked;
  const { plan, askedScope } = request;
  const { text, id, hash } = makeCode({
    grantsNothing: plan.scope === null && askedScope !== undefined,
    tellsClaims: claimsFor('id_token', plan.scope).length > 0,
  });
  const isStored = await statements.storeCode({
    ...answerRow(asked, signIn),
    box: state.box,
    id,
    hash,
    signInVersion: signIn.version,
    consentVersion: consentVersion(asked, signIn),
    target,
  });
  return isStored ? authorizationResponse(request.place, [['code', text]]) : undefined;
}

/** Returns the version of the consent that must still exist; null for a first-party client, which needs none. */
function consentVersion({ request }: BrowserRequest, { consent }: FoundSignIn): number | null {
  if (request.client.client.first_party === true) return null;
  if (consent === undefined) throw new Error('a code needs the consent of its user');
  return consent.version;
}

/** Returns the parts that the row of every answer has, a code's or a token's. */
export function answerRow({ state, request, browser, origin, now }: BrowserRequest, signIn: FoundSignIn) {
  return {
    client: request.client.client.id,
    user: signIn.user,
    version: state.version,
    browser,
    redirectUri: request.place.isNamed ? request.place.redirectUri : null,
    scope: request.plan.scope,
    audience: request.plan.audience,
    challenge: request.challenge,
    nonce: request.nonce ?? null,
    authenticatedAt: signIn.createdAt,
    userAgent: origin.userAgent,
    createdAt: now,
    expiresAt: now + codeTime,
    keptUntil: Math.max(now + day, signIn.expiresAt),
  };
}
