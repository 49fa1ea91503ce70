import { emailKey } from '../users/email.ts';
import { Problem } from '../problem.ts';
import type { FailureCount, Throttle } from './throttle.ts';

/** Whose password is guessed, and from where. */
export interface Guess {
  readonly box: string;
  /** As somebody typed it: whatever names one account counts as one. */
  readonly email: string;
  readonly address: string;
}

/**
 * Verifies a password, unless too many failed: of this account from this address, of all accounts from it, or of this
 * account from everywhere, by whichever endpoint. Those under way count, and nobody learns whether there is such an
 * account. Undefined is a failure. Throws Problem `throttled`, and what `verify` throws.
 */
export async function guessing<T>(
  { passwords, accounts }: Throttle,
  { box, email, address }: Guess,
  verify: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const account = emailKey(email) ?? email;
  beginAttempt(passwords, [box, account, address]);
  try {
    beginAttempt(accounts, [box, account, '']);
    try {
      const verified = await verify();
      if (verified === undefined) {
        passwords.failed(box, account, address);
        accounts.failed(box, account, '');
      }
      return verified;
    } finally {
      accounts.end(box, account, '');
    }
  } finally {
    passwords.end(box, account, address);
  }
}

/** What an attempt is counted for: the box, the account (or ''), the address. */
export type CountedFor = readonly [box: string, account: string, address: string];

/** Begins an attempt, which has to be ended. Throws Problem `throttled` when too many failed or are under way. */
export function beginAttempt(count: FailureCount, who: CountedFor): void {
  if (count.begin(...who) !== undefined) return;
  const seconds = String(count.retryAfter);
  throw new Problem('throttled', `Too many attempts; try again in ${seconds} s`, { 'Retry-After': seconds });
}
