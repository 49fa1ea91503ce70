/** The order of keys that wait for a pass: those first whose passes took less time lately. */
export interface PassOrder {
  /** Notes that a key waits from now on. */
  arrive(key: string): void;
  /** Takes the key whose turn it is out of those that wait; undefined when none does. */
  next(): string | undefined;
  /** Notes how many milliseconds a pass took. */
  took(key: string, milliseconds: number): void;
  readonly waiting: number;
  /** Lets all go that wait. */
  clear(): void;
}

/**
 * Creates an empty order: start-time fair queueing (Goyal, Vin, Cheng 1996) over the time of earlier passes. A key begins
 * where its last pass ended on a clock that shows how much time each key in line has had; one that was idle begins with the
 * others, so that it neither saves up time nor pays for what was long ago. Keys at the same point go in their order.
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
