/** Runs a slice of long work when the event loop has time for it, and resolves after it. */
export type Turn = (slice: () => void) => Promise<void>;

/** Milliseconds after which a slice ends: what follows is not begun in it. */
const LONGEST_SLICE = 4;

/** Does something with each item, in slices of 4 ms; returns what the iterator returns at its end. */
export async function inSlices<T, R>(items: Iterator<T, R>, turn: Turn, work: (item: T) => void): Promise<R> {
  for (let next = items.next(); ;) {
    if (next.done === true) return next.value;
    await turn(() => {
      const end = performance.now() + LONGEST_SLICE;
      while (next.done !== true && performance.now() < end) {
        work(next.value);
        next = items.next();
      }
    });
  }
}
