import { setTimeout as sleep } from 'node:timers/promises';
import { Outage, toOutage } from './db/core/outage.ts';

/** Limits of a wait, and who hears of it. */
export interface UnreachableWait {
  /** Seconds from now; 0: do not wait. */
  readonly seconds: number;
  /** Called with each reason that differs from the one before. */
  readonly onReason: (reason: string) => void;
}

/** Milliseconds between two attempts. */
const pause = 1_000;

/**
 * Runs work on the database again until it succeeds, for as long as the database cannot be reached: a new installation
 * starts everything at once. Throws any other error immediately, and the last one when the time is over.
 */
export async function retryWhileUnreachable<T>(work: () => Promise<T>, wait: UnreachableWait): Promise<T> {
  const deadline = performance.now() + wait.seconds * 1_000;
  let told = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || performance.now() >= deadline) throw error;
      const reason = error.message;
      if (reason !== told) wait.onReason(reason);
      told = reason;
    }
    await sleep(pause);
  }
}

/** Checks whether Postgres cannot answer, also where an error of ours has that as its cause. */
function isOutage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return toOutage(error) instanceof Outage || (error.cause !== undefined && isOutage(error.cause));
}
