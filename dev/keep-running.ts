import { setTimeout as sleep } from 'node:timers/promises';
import { waitAfter } from '../operator/reconcile/work-queue.ts';

/** Something that runs until it ends by itself or is stopped. */
export interface Running {
  /** Resolves with its last message when it has ended. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** A thing that is started again, as sentences name it. */
export interface Restart<T extends Running> {
  /** `The API`. */
  readonly name: string;
  readonly start: () => Promise<T>;
  /** Returns what follows "has ended" in a sentence. */
  readonly ending: (said: unknown) => string;
  readonly onRestart?: () => void;
}

/**
 * Restarts a running thing whenever it ends by itself, until the returned function is called; that stops it too. `note`
 * gets a sentence for its end, a failed restart and a restart.
 */
export function keepRunning<T extends Running>(
  first: T,
  { name, start, ending, onRestart }: Restart<T>,
  note: (sentence: string) => void,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });
  let running: T | undefined = first;

  async function supervise(): Promise<void> {
    let failures = 0;
    for (;;) {
      const began = performance.now();
      const said = running === undefined ? 'it did not start' : await Promise.race([running.ended, stopped]);
      if (signal.aborted) return;
      // A thing that ran for a minute does not fail over and over.
      failures = performance.now() - began > 60_000 ? 1 : failures + 1;
      const wait = waitAfter(failures, { first: 500, ceiling: 30_000 }, Math.random);
      note(`${name} has ended ${ending(said)}; starting it again`);
      await sleep(wait, undefined, { signal });
      running = await startAgain();
    }
  }

  async function startAgain(): Promise<T | undefined> {
    try {
      const again = await start();
      note(`${name} is back.`);
      onRestart?.();
      return again;
    } catch (error) {
      note(error instanceof Error ? error.message : `${name} does not start`);
      return undefined;
    }
  }

  // It only throws when the sleep is cut short.
  const supervision = supervise().catch(() => undefined);
  return async () => {
    // First, so that its end is not mistaken for a failure.
    stopping.abort();
    await running?.stop();
    await supervision;
    // It may just have been starting.
    await running?.stop();
  };
}

/** Has something that started stopped at the end, under its name in a message: the last one first. */
export type StopAtEnd = (name: string, stop: () => unknown) => void;
