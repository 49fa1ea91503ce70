import { setTimeout as sleep } from 'node:timers/promises';

/** Conditions under which work on the database is tried again. */
export interface Retry {
  /** Returns why the work may succeed later; undefined if its error is to be thrown. */
  readonly reasonOf: (error: unknown) => string | undefined;
  /** Called before the wait with each reason that differs from the one before. */
  readonly onReason: (reason: string) => void | Promise<void>;
  /** Returns the milliseconds until the next attempt, after a number of them. */
  readonly pause: (attempts: number) => number;
  /** Ends a wait; its reason is then thrown. */
  readonly signal?: AbortSignal;
}

/** Runs work on the database until it succeeds, or until it throws an error without a reason to try again. */
export async function retryWhileUnreachable<T>(work: () => Promise<T>, retry: Retry): Promise<T> {
  let told: string | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      const reason = retry.reasonOf(error);
      if (reason === undefined) throw error;
      if (reason !== told) await retry.onReason(reason);
      told = reason;
    }
    await sleep(retry.pause(attempts), undefined, { signal: retry.signal });
  }
}
