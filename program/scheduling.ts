import { setTimeout as sleep, setImmediate } from 'node:timers/promises';

/** Milliseconds for which long work holds the event loop before others have their turn. */
const LONGEST_TURN = 4;

/**
 * Returns a function for long work to call between its parts: it lets the rest of the process run once this work has
 * held the event loop for 4 ms, and otherwise costs nothing.
 */
export function createTurns(now: () => number = () => performance.now()): () => Promise<void> | undefined {
  let began = now();
  const next = async (): Promise<void> => {
    await setImmediate();
    began = now();
  };
  return () => (now() - began < LONGEST_TURN ? undefined : next());
}

/** Work that is repeated in the background. */
export interface Rounds {
  /** Begins no further round; resolves when the one in progress has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` again and again, each time `period` milliseconds after the start or after the last round has ended. The
 * wait keeps no process alive. `work` must never throw.
 */
export function startRounds(period: number, work: (signal: AbortSignal) => Promise<void>): Rounds {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rounds = async (): Promise<void> => {
    for (;;) {
      await sleep(period, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await work(signal);
    }
  };
  const running = rounds();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}

/** Runs rounds as {@link startRounds} does, and a last one when they are stopped: its signal is aborted. */
export function startRoundsWithLast(period: number, work: (signal: AbortSignal) => Promise<void>): Rounds {
  const rounds = startRounds(period, work);
  return {
    async stop() {
      await rounds.stop();
      await work(AbortSignal.abort());
    },
  };
}

/** Yields items in portions of `size`, in their order; the last one may be smaller. */
export function* inPortions<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** Calls back after `wait` milliseconds, unless the returned function is called first. */
export function schedule(wait: number, callback: () => void): () => void {
  const timer = setTimeout(callback, wait);
  return () => clearTimeout(timer);
}

/** Resolves after `wait` milliseconds, and immediately when aborted. */
export async function pause(wait: number, signal: AbortSignal): Promise<void> {
  await sleep(wait, undefined, { signal }).catch(() => undefined);
}

/** Time limit of a piece of work. */
export interface Deadline {
  /** Aborted when the time has passed, with the error of the deadline as its reason. */
  readonly signal: AbortSignal;
  /** Ends the time limit: the signal is not aborted any more. */
  lift(): void;
}

/** Creates a deadline that passes after `limit` milliseconds; `reason` makes its error. */
export function createDeadline(limit: number, reason: () => Error): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason()), limit);
  return { signal: controller.signal, lift: () => clearTimeout(timer) };
}

/** Waits for work until the signal is aborted; throws what `reason` returns then, by default the signal's own. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reason: () => unknown = () => signal.reason,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(reason());
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
