import { randomUUID } from 'node:crypto';
import { insertConsentRequest } from '../../db/authorization/consent-request.ts';
import type { OAuthServices } from '../services.ts';
import { findCurrentSignIn, onBrowserRequest } from './browser-request.ts';
import type { AuthorizationArrival, BrowserRequest, Decided, NextStep } from './browser-request.ts';
import { answerClient, issueHeld, withHeldSignIn } from './held-sign-in.ts';
import type { HeldSignIn } from './held-sign-in.ts';
import { issueCode } from './issue-code.ts';
import { validateSignIn } from './sign-in-checks.ts';

/** Milliseconds in which consent must be given. */
const consentTime = 10 * 60_000;

/**
 * Serves the authorization endpoint (RFC 6749 §3.1). `query` is as it came, without its question mark. Undefined when
 * there is no such box. Throws Outage.
 *
 * A refusal and the usual code take two statements that many requests share. A transaction is needed to store anything
 * else, and if something was changed between the two: it validates the sign-in again, under its locks.
 */
export function authorize(
  arrival: AuthorizationArrival,
  query: string,
  services: OAuthServices,
): Promise<Decided | undefined> {
  return onBrowserRequest(arrival, query, services, async (asked) => {
    const { signIn, verdict } = validateSignIn(asked, await findCurrentSignIn(asked, asked.statements));
    if (verdict !== undefined && verdict !== 'ask-consent') return verdict;
    if (signIn !== undefined && asked.request.type === 'code') {
      const code = await issueCode(asked, signIn, asked.statements);
      if (code !== undefined) return answerClient(asked, code, services);
    }
    return withHeldSignIn(asked, (held) => authorizeHeld(asked, held, services));
  });
}

async function authorizeHeld(asked: BrowserRequest, held: HeldSignIn, services: OAuthServices): Promise<NextStep> {
  const { signIn, verdict } = validateSignIn(asked, held.signIn);
  if (verdict === undefined) return issueHeld(asked, { ...held, signIn }, services);
  return verdict === 'ask-consent' ? askConsent(asked, held) : verdict;
}

/** Stores a request until its user has answered the consent page. */
async function askConsent({ state, request, browser, now }: BrowserRequest, held: HeldSignIn): Promise<NextStep> {
  const id = randomUUID();
  const waiting = { id, browser, query: request.query, expiresAt: now + consentTime };
  await insertConsentRequest(held.connection, state.box, waiting);
  return { next: 'consent', id };
}
