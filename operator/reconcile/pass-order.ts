/** Order of the keys that wait for a pass: those whose recent passes took less time come first. */
export interface PassOrder {
  /** Notes that a key waits from now on. */
  arrive(key: string): void;
  /** Removes and returns the waiting key whose turn it is; undefined if none waits. */
  next(): string | undefined;
  /** Notes how many milliseconds a pass took. */
  took(key: string, milliseconds: number): void;
  readonly waiting: number;
  /** Removes all waiting keys. */
  clear(): void;
}

/**
 * Creates an empty order: start-time fair queueing (Goyal, Vin, Cheng 1996) over the time of earlier passes. A key
 * starts where its last pass ended, on a clock that shows how much time each waiting key has had. An idle key starts
 * with the others, so that it neither saves up time nor pays for the distant past. Keys at the same point run in their
 * order.
 */
export function createPassOrder(): PassOrder {
  const starts = new Map<string, number>();
  const ends = new Map<string, number>();
  let clock = 0;

  function first(): string | undefined {
    let found: string | undefined;
    let least = Infinity;
    for (const [key, start] of starts) {
      if (start >= least) continue;
      least = start;
      found = key;
    }
    return found;
  }

  return {
    get waiting() {
      return starts.size;
    },
    arrive(key) {
      if (!starts.has(key)) starts.set(key, Math.max(clock, ends.get(key) ?? 0));
    },
    next() {
      const key = first();
      if (key === undefined) return undefined;
      clock = starts.get(key) ?? clock;
      ends.set(key, clock);
      starts.delete(key);
      return key;
    },
    took(key, milliseconds) {
      ends.set(key, (ends.get(key) ?? clock) + Math.max(0, milliseconds));
      for (const [one, end] of ends) if (end <= clock) ends.delete(one);
    },
    clear() {
      starts.clear();
    },
  };
}
