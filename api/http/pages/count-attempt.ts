import { Problem } from '../../problem.ts';
import type { FailureCount } from '../throttle.ts';

/** What an attempt is counted for: the box, the account (or ''), the address. */
export type CountedFor = readonly [box: string, account: string, address: string];

/**
 * Makes an attempt that counts however it ends, unless too many were made. Throws Problem `throttled`, and what the attempt
 * throws; then it does not count.
 */
export async function countAttempt<T>(count: FailureCount, who: CountedFor, attempt: () => Promise<T>): Promise<T> {
  beginAttempt(count, who);
  try {
    const outcome = await attempt();
    count.failed(...who);
    return outcome;
  } finally {
    count.end(...who);
  }
}

/** Begins an attempt, which has to be ended. Throws Problem `throttled` when too many failed or are under way. */
export function beginAttempt(count: FailureCount, who: CountedFor): void {
  if (count.begin(...who) !== undefined) return;
  const seconds = String(count.retryAfter);
  throw new Problem('throttled', `Too many attempts; try again in ${seconds} s`, { 'Retry-After': seconds });
}
