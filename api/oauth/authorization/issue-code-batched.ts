import { browserHash } from '../../credentials/browser-token.ts';
import { targetKey } from '../../db/authorization/consent.ts';
import type { Consent } from '../../db/authorization/consent.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { CurrentStatements } from '../../state/current-statements.ts';
import { signInThatCounts } from '../session/signed-in.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { consentTarget } from './consent-target.ts';
import { isCoveredBy } from './covered-by-consent.ts';
import { newCode } from './issue-answer.ts';
import { isTooOld } from './prompt.ts';
import { isProven } from './proven-client.ts';

/** A request for a code, and the browser that sends it. */
export interface CodeAttempt {
  readonly state: BoxState;
  readonly statements: CurrentStatements;
  readonly request: AuthorizationRequest;
  readonly visit: { readonly browser: string; readonly remoteAddr: string | null; readonly userAgent: string | null };
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Issues a code to a user who is signed in and need not be asked for consent, by two statements that many requests
 * share: one reads the sign-in and one stores the code. Undefined: a transaction that holds the box is needed.
 *
 * Data that was read may be out of date when the code is stored. So the second statement stores nothing unless it holds
 * the box, as that transaction would (boxgate.hold_boxes), at the version that was read with the sign-in. Then nothing
 * has ended what a user, a client or a box began, nor can it before the code is stored. A sign-out does not hold the
 * box: the row of the sign-in is locked, and must still exist. The consent is read again under the box's lock.
 */
export async function issueCodeBatched(attempt: CodeAttempt): Promise<AuthorizationResponse | undefined> {
  const { state, statements, request, visit, now } = attempt;
  const { client, prompt } = request;
  if (!canBeQuick(request)) return undefined;
  const browser = browserHash(visit.browser);
  const target = targetKey(consentTarget(request));
  const found = await statements.signIn({ box: state.box, browser, client: client.client.id, target });
  const signIn = signInThatCounts(found, state);
  if (signIn === undefined || signIn.expiresAt <= now || isTooOld(prompt, signIn.createdAt, now)) return undefined;
  const { consent, user, version: signInVersion, createdAt, expiresAt } = signIn;
  const consentVersion = consentNeeded(request, consent);
  if (consentVersion === undefined) return undefined;
  const who = { browser, createdAt, expiresAt, person: { id: user } };
  const { row, answer } = newCode({ state, request, signIn: who, visit, now });
  const isStored = await statements.storeCode({ ...row, box: state.box, signInVersion, consentVersion, target });
  return isStored ? answer : undefined;
}

function canBeQuick(request: AuthorizationRequest): boolean {
  const { type, prompt, userHint, client } = request;
  const mayBeRemembered = client.client.first_party === true || isProven(request);
  return type === 'code' && mayBeRemembered && !prompt.login && !prompt.consent && userHint === undefined;
}

/** Returns the version of the consent that grants a request; null for a first-party client, undefined if none does. */
function consentNeeded(request: AuthorizationRequest, consent: Consent | undefined): number | null | undefined {
  if (request.client.client.first_party === true) return null;
  return isCoveredBy(consent, request) ? consent.version : undefined;
}
