import type { QueueOptions } from './queue.ts';

/** Timers by the clock: one time for each key. */
export interface RequeueTimers {
  /** Sets the only time at which the key is called (milliseconds since 1970); undefined: never. */
  runAt(key: string, time: number | undefined): void;
  stop(): void;
}

/** Limit in milliseconds, as timers cannot wait longer than 24 days: a key that is woken early sets its time again. */
const longestWait = 86_400_000;

/** Creates timers that call `wake` with each key when its time has come. */
export function createRequeueTimers(
  wake: (key: string) => void,
  now: () => Date,
  schedule: QueueOptions['schedule'],
): RequeueTimers {
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
