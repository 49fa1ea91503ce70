import { setTimeout as sleep } from 'node:timers/promises';
import { Outage, toOutage } from './db/core/outage.ts';
import { SchemaTooOld } from './db/core/startup.ts';

/** Limits of a wait, and who hears of it. */
export interface DatabaseWait {
  /** Seconds from now; 0: do not wait. */
  readonly seconds: number;
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Called with each reason that differs from the one before. */
  readonly onReason: (reason: string) => void;
}

/** Milliseconds between two attempts. */
const pause = 1_000;

/**
 * Runs work on the database again until it succeeds, for as long as the database cannot be reached or its schema is too
 * old: a new installation starts everything at once. Throws any other error immediately, and the last one when the time
 * is over.
 */
export async function waitForDatabase<T>(work: () => Promise<T>, wait: DatabaseWait): Promise<T> {
  const deadline = performance.now() + wait.seconds * 1_000;
  let told = '';
  for (;;) {
    try {
      return await work();
    } catch (cause) {
      const error = toOutage(cause);
      const isTemporary = error instanceof Outage || error instanceof SchemaTooOld;
      if (!isTemporary || performance.now() >= deadline || wait.signal.aborted) throw error;
      const reason = reasonOf(error);
      if (reason !== told) wait.onReason(reason);
      told = reason;
    }
    await sleep(pause, undefined, { signal: wait.signal }).catch(() => undefined);
  }
}

/** Returns the message with that of its cause: which host refused says more than that Postgres cannot answer. */
function reasonOf(error: Error): string {
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message;
}
