/** A clock that only a test moves, and the callbacks that wait for it. */
export interface VirtualTime {
  /** Milliseconds since its beginning. */
  now(): number;
  /** Calls back after so many milliseconds, unless its own result is called first. */
  schedule(wait: number, callback: () => void): () => void;
  /** Lets time pass, a callback after the other in their order; `each` is called after each of them. */
  pass(milliseconds: number, each?: () => void): Promise<void>;
}

/** A clock at zero. */
export function virtualTime(): VirtualTime {
  let time = 0;
  let waiting: { readonly due: number; readonly callback: () => void }[] = [];

  function nextUntil(end: number) {
    const due = waiting.filter((one) => one.due <= end);
    return due.reduce<(typeof due)[number] | undefined>(
      (first, one) => (first && first.due <= one.due ? first : one),
      undefined,
    );
  }

  return {
    now: () => time,
    schedule(wait, callback) {
      const entry = { due: time + wait, callback };
      waiting.push(entry);
      return () => void (waiting = waiting.filter((one) => one !== entry));
    },
    async pass(milliseconds, each = () => undefined) {
      const end = time + milliseconds;
      await settle();
      for (let next = nextUntil(end); next !== undefined; next = nextUntil(end)) {
        const fired = next;
        const { due, callback } = fired;
        waiting = waiting.filter((one) => one !== fired);
        time = Math.max(time, due);
        callback();
        await settle();
        each();
      }
      time = end;
    },
  };
}

/** Waits until the callbacks of settled promises have run. */
async function settle(): Promise<void> {
  for (let round = 0; round < 100; round += 1) await Promise.resolve();
}
