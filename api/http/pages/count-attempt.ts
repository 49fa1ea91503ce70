import { beginAttempt } from '../attempt.ts';
import type { CountedFor } from '../attempt.ts';
import type { FailureCount } from '../throttle.ts';

/**
 * Makes an attempt that counts however it ends, unless too many were made. Throws Problem `throttled`, and what the attempt
 * throws; then it does not count.
 */
export async function countAttempt<T>(count: FailureCount, who: CountedFor, attempt: () => Promise<T>): Promise<T> {
  const begun = beginAttempt(count, who);
  try {
    const outcome = await attempt();
    await begun.failed();
    return outcome;
  } finally {
    begun.end();
  }
}
