import type { QueueOptions } from './queue.ts';

/** Runs things at a time of the clock: one time for each key. */
export interface WakeUps {
  /** The key is called at this time (milliseconds since 1970) and at no other; undefined: at none. */
  runAt(key: string, time: number | undefined): void;
  stop(): void;
}

/** Timers cannot wait for longer than 24 days: who is woken early has nothing to do, and says again when. */
const longestWait = 86_400_000;

/** Calls `wake` with each key when its time has come. */
export function createWakeUps(
  wake: (key: string) => void,
  now: () => Date,
  schedule: QueueOptions['schedule'],
): WakeUps {
  const waiting = new Map<string, { readonly time: number; readonly cancel: () => void }>();
  let isOver = false;
  return {
    runAt(key, time) {
      if (isOver) return;
      const known = waiting.get(key);
      if (known?.time === time) return;
      known?.cancel();
      waiting.delete(key);
      if (time === undefined) return;
      const wait = Math.min(longestWait, Math.max(0, time - now().getTime()));
      const cancel = schedule(wait, () => {
        waiting.delete(key);
        wake(key);
      });
      waiting.set(key, { time, cancel });
    },
    stop() {
      isOver = true;
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
