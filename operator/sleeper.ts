import { setTimeout as sleep } from 'node:timers/promises';

/** Waits that can all be ended at once. */
export interface Sleeper {
  /** Resolves after that many milliseconds, when it is woken, or when aborted. */
  readonly sleep: (wait: number, signal: AbortSignal) => Promise<void>;
  /** Ends every wait that has started. */
  wake(): void;
}

/** Creates a sleeper without any waits. */
export function createSleeper(): Sleeper {
  let woken = new AbortController();
  return {
    async sleep(wait, signal) {
      await sleep(wait, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => undefined);
    },
    wake() {
      woken.abort();
      woken = new AbortController();
    },
  };
}
