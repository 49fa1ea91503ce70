import { randomUUID } from 'node:crypto';
import { insertConsentRequest } from '../../db/authorization/consent-request.ts';
import type { OAuthServices } from '../services.ts';
import { onBrowserRequest, withLockedSignIn } from './browser-request.ts';
import type { AuthorizationArrival, BrowserRequest, Decided, LockedSignIn, NextStep } from './browser-request.ts';
import { issue } from './issue.ts';
import { validateSignIn } from './sign-in-checks.ts';

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
export async function askConsent(
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
