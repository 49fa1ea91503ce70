import { setTimeout as sleep } from 'node:timers/promises';

/** Work that is repeated in the background. */
export interface Rounds {
  /** Aborted by {@link stop}. */
  readonly signal: AbortSignal;
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
    signal,
    stop() {
      stopping.abort();
      return running;
    },
  };
}
