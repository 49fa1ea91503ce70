import { Problem } from '../../problem.ts';
import type { FailureCount } from './throttle.ts';

/** An attempt that counts as a failure while it is in progress. */
export interface Attempt {
  /** Counts it as a failure, before it ends. Throws Outage. */
  failed(): Promise<void> | void;
  /** Ends it; call it exactly once, whatever the outcome. */
  end(): void;
}

/** Key of an attempt's counts: the box, the account (or ''), the address. */
export type CountedFor = readonly [box: string, account: string, address: string];

/** Begins an attempt in this replica's memory. Throws Problem `throttled` if too many failed or are in progress. */
export function beginAttempt(count: FailureCount, who: CountedFor): Attempt {
  if (count.begin(...who) === undefined) throw tooManyAttempts(count.retryAfter);
  return {
    failed: () => {
      count.failed(...who);
    },
    end: () => {
      count.end(...who);
    },
  };
}

/** Ends several attempts. */
export function endAll(attempts: readonly Attempt[]): void {
  for (const attempt of attempts) attempt.end();
}

/** Creates the Problem `throttled` of too many attempts, with the wait in seconds. */
export function tooManyAttempts(wait: number): Problem {
  const seconds = String(Math.max(1, Math.ceil(wait)));
  return new Problem('throttled', `Too many attempts; try again in ${seconds} s`, { 'Retry-After': seconds });
}
