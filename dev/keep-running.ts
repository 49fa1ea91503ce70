import { setTimeout as sleep } from 'node:timers/promises';
import { waitAfter } from '../operator/reconcile/work-queue.ts';

/** Something that runs until it ends by itself or is stopped. */
export interface Running {
  /** Resolves with its last message when it has ended. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Function that starts a thing again, and callbacks for its end and its restart. */
export interface Restart<T extends Running> {
  readonly start: () => Promise<T>;
  /** Called when it ended without being asked to; `wait`: milliseconds until the restart. */
  readonly onEnd: (said: unknown, wait: number) => void;
  /** Called when the restart failed; it is tried again. */
  readonly onFailure: (error: unknown) => void;
  readonly onRestart: (again: T) => void;
  readonly random: () => number;
}

/** Restarts a running thing whenever it ends by itself, until the returned function is called; that stops it too. */
export function keepRunning<T extends Running>(first: T, restart: Restart<T>): () => Promise<void> {
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
      const wait = waitAfter(failures, { first: 500, ceiling: 30_000 }, restart.random);
      restart.onEnd(said, wait);
      await sleep(wait, undefined, { signal });
      running = await startAgain();
    }
  }

  async function startAgain(): Promise<T | undefined> {
    try {
      const again = await restart.start();
      restart.onRestart(again);
      return again;
    } catch (error) {
      restart.onFailure(error);
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
