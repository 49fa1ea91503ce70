import { setTimeout as sleep } from 'node:timers/promises';
import { waitAfter } from '../operator/back-off.ts';

/** Something that runs until it ends by itself or is stopped. */
export interface Running {
  /** Resolves when it has ended, with what it said last. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** How to start a thing again, and who hears of its end. */
export interface Restart<T extends Running> {
  readonly start: () => Promise<T>;
  /** It ended though nobody asked it to; milliseconds until it is started again. */
  readonly onEnd: (said: unknown, wait: number) => void;
  /** It did not start again; that is tried again too. */
  readonly onFailure: (error: unknown) => void;
  readonly onRestart: (again: T) => void;
  readonly random: () => number;
}

/** Starts a running thing again whenever it ends by itself, until the result is called; that stops it too. */
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
      // What ran for a minute is not what fails over and over.
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

  // A sleep that is cut short is the only thing that it can throw.
  const supervision = supervise().catch(() => undefined);
  return async () => {
    // First, so that its end is not taken for an accident.
    stopping.abort();
    await running?.stop();
    await supervision;
    // It may have been starting just then.
    await running?.stop();
  };
}
