import { randomUUID } from 'node:crypto';
import {
  insertConsentRequest,
  lockConsentRequest,
  readConsentRequest,
} from '../../db/authorization/consent-request.ts';
import type { OAuthServices } from '../services.ts';
import { onBrowserRequest, withLockedSignIn, consentTarget } from './browser-request.ts';
import type {
  AuthorizationArrival,
  BrowserRequest,
  Decided,
  LockedSignIn,
  NextStep,
  AuthorizationVisit,
} from './browser-request.ts';
import { issue } from './issue.ts';
import { validateSignIn, validateAnswering } from './sign-in-checks.ts';
import { recordIn } from '../../audit/recorded.ts';
import { browserHash } from '../../credentials/browser-token.ts';
import { deleteCode, lockCode } from '../../db/authorization/authorization-code.ts';
import { storeConsent } from '../../db/authorization/consent.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { uuidShape } from '../../db/core/uuid-v7.ts';
import type { GrantKey } from '../../db/grant.ts';
import { scopesOf } from '../scope-text.ts';
import { errorResponse } from './authorization-response.ts';
import { shownDigest } from './request/describe-request.ts';

/** Milliseconds in which consent must be given. */
const consentTime = 10 * 60_000;

/**
 * Serves the authorization endpoint (RFC 6749 §3.1) in one transaction: finds the sign-in, validates it, then issues
 * the code or the tokens, or asks for consent. `query` is as it came, without its question mark. Undefined when there
 * is no such box. Throws Outage.
 */
export function authorize(
  arrival: AuthorizationArrival,
  query: string,
  services: OAuthServices,
): Promise<Decided | undefined> {
  return onBrowserRequest(arrival, query, services, (requested) =>
    withLockedSignIn(requested, async (locked) => {
      const { signIn, verdict } = validateSignIn(requested, locked);
      if (verdict === undefined) return issue(locked.connection, requested, { signIn, id: randomUUID() }, services);
      return verdict === 'ask-consent' ? askConsent(requested, locked) : verdict;
    }),
  );
}

/** Stores a request until its user has answered the consent page. */
async function askConsent(
  { state, request, browser, now }: BrowserRequest,
  { connection }: LockedSignIn,
): Promise<NextStep> {
  const id = randomUUID();
  await insertConsentRequest(connection, state.box, {
    id,
    browser,
    query: request.query,
    expiresAt: now + consentTime,
  });
  return { next: 'consent', id };
}

/** The answer of a user to the consent page of a request. */
interface Answered {
  /** ID of the request. */
  readonly id: string;
  readonly answer: 'allow' | 'deny';
  /** Digest of the request that the page showed ({@link shownDigest}). */
  readonly shown: string | undefined;
}

/**
 * Answers a request that waits for consent in the browser that made it, otherwise with an error page. A request that
 * would be granted more than the page showed is shown again. If the answer comes again, because the button was pressed
 * twice, a new code replaces one that is unused; if it was used, the user is asked again. Undefined when there is no
 * such box. Throws Outage.
 */
export async function answerConsent(
  visit: AuthorizationVisit,
  answered: Answered,
  services: OAuthServices,
): Promise<NextStep | undefined> {
  const query = await waitingRequest(visit, answered.id, services);
  if (query === undefined) return { next: 'error-page' };
  const arrival = { ...visit, browserAt: () => visit.browser };
  const { remoteAddr, requestId } = visit;
  const trailOf = (user: number) => services.trailOf({ user, remoteAddr: remoteAddr ?? undefined, requestId });
  let logConsent: (() => void) | undefined;
  const recordGiven: RecordGiven = async (connection, { user, client }) => {
    const event = { event: 'consent.given', target: `Grant/${String(user)}.${client}` } as const;
    logConsent = await recordIn(connection, visit.box, trailOf(user), [event]);
  };
  const decided = await onBrowserRequest(arrival, query, services, (requested) => {
    // Of an attempt that is repeated, nothing was stored.
    logConsent = undefined;
    return withLockedSignIn(requested, (locked) =>
      answerLocked(requested, locked, { ...answered, recordGiven }, services),
    );
  });
  logConsent?.();
  return decided?.step;
}

/** Records a consent in the transaction that stores it. */
type RecordGiven = (connection: Connection, grant: GrantKey) => Promise<void>;

async function answerLocked(
  requested: BrowserRequest,
  locked: LockedSignIn,
  { id, answer, shown, recordGiven }: Answered & { readonly recordGiven: RecordGiven },
  services: OAuthServices,
): Promise<NextStep> {
  const { state, request, browser, now } = requested;
  const { connection } = locked;
  const { signIn, verdict } = validateAnswering(requested, locked);
  if (verdict !== undefined) return verdict;
  if (answer === 'allow' && shown !== shownDigest(request, state.settings)) return { next: 'consent', id };
  const isWaiting = await lockConsentRequest(connection, state.box, { id, browser, now });
  if (!isWaiting) return { next: 'error-page' };
  if (answer === 'deny') {
    return { next: 'client', answer: errorResponse(request.target, 'access_denied', 'The user denied access') };
  }
  const earlier = await lockCode(connection, state.box, id);
  if (earlier?.used === true) return askConsent(requested, locked);
  if (earlier !== undefined) {
    await deleteCode(connection, state.box, id);
  } else {
    const user = signIn.person.id;
    await rememberConsent(connection, requested, user);
    await recordGiven(connection, { user, client: request.client.client.id });
  }
  return issue(connection, requested, { signIn, id }, services);
}

/** Stores the consent. Scopes that were allowed before stay allowed. */
async function rememberConsent(
  connection: Connection,
  { state, request, now }: BrowserRequest,
  user: number,
): Promise<void> {
  const { client, plan } = request;
  const key = { user, client: client.client.id, target: consentTarget(request) };
  const scopes = scopesOf(plan.scope);
  const consent = { scopes, version: state.version, since: client.sessionsFrom, createdAt: now };
  await storeConsent(connection, state.box, key, consent);
}

/** Returns the parameters of a request that waits for consent in this browser; undefined if none. Throws Outage. */
export async function waitingRequest(
  { box, browser }: Pick<AuthorizationVisit, 'box' | 'browser'>,
  id: string,
  services: OAuthServices,
): Promise<string | undefined> {
  if (browser === undefined || !uuidShape.test(id)) return undefined;
  const key = { id, browser: browserHash(browser), now: services.now() };
  return inBox(services.pool, box, 'snapshot', (connection) => readConsentRequest(connection, box, key));
}
