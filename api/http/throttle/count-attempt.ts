import { beginAttempt } from './attempt.ts';
import type { CountedFor } from './attempt.ts';
import type { FailureCount } from './throttle.ts';

/**
 * Makes an attempt that is counted whether it succeeds or not. Throws Problem `throttled` if there were too many, and
 * any error of the attempt; such an attempt is not counted.
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
