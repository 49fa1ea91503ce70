import { createFairLine } from './fair-line.ts';

/** A function that processes the items of a batch; it returns one result for each, in their order. */
export type BatchRun<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

/** Limits of a batch: its size, the number of concurrent runs, and the time that an item may take. */
export interface BatchLimits {
  readonly size: number;
  readonly inFlight: number;
  /** Items that must wait for another run to begin beside one that is in progress. */
  readonly beside: number;
  /** Milliseconds after which a run is slow: another one begins beside it for however few items. */
  readonly slow: number;
  /**
   * Items that may wait. Beyond that the box with the most items loses its youngest one to a box that has fewer, and
   * `submit` throws the error of `overflow`: `displaced` for the former, `full` if no box has more.
   */
  readonly waiting: number;
  readonly overflow: (why: 'displaced' | 'full') => Error;
  /** Milliseconds from `submit` to its end; later (by a tenth at most) `submit` throws the error of `overdue`. */
  readonly patience: number;
  readonly overdue: () => Error;
}

/** Collects items while runs are in flight; see {@link createBatch}. */
export interface Batch<Item, Result> {
  submit(item: Item): Promise<Result>;
}

interface Entry<Item, Result> {
  readonly item: Item;
  /** `performance.now()` at its submission. */
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

type Entries<Item, Result> = readonly Entry<Item, Result>[];

/**
 * Items submitted while a run is in flight share the next one; a lone item runs at once. The next run begins when that
 * one ends, or beside it if it is slow or many items wait: few large runs cost less than many small ones
 * (decision 5). When a run of several fails for a reason other than `isOutage`, its halves are run again, and
 * theirs, so that a bad row harms nobody else and costs a few runs. No item waits longer than `patience`, whatever
 * happens to the runs. A run that cannot take all waiting items takes items of each box in turn.
 */
export function createBatch<Item, Result>(
  run: BatchRun<Item, Result>,
  limits: BatchLimits,
  isOutage: (error: unknown) => boolean,
  boxOf: (item: Item) => string,
): Batch<Item, Result> {
  const settle = settling(run, isOutage);
  const waiting = createFairLine<Entry<Item, Result>>((entry) => boxOf(entry.item));
  const running = new Set<Entries<Item, Result>>();
  let scheduled = false;
  let lastStart = -Infinity;
  let untilSlow: NodeJS.Timeout | undefined;
  let watch: NodeJS.Timeout | undefined;

  function submit(item: Item): Promise<Result> {
    if (waiting.length >= limits.waiting && !displaceFor(item)) return Promise.reject(limits.overflow('full'));
    return new Promise((resolve, reject) => {
      waiting.add({ item, since: performance.now(), resolve, reject });
      watch ??= setInterval(rejectOverdue, limits.patience / 10).unref();
      schedule();
    });
  }

  /** Takes the place of another box's youngest item; false if no box has at least two more items in line. */
  function displaceFor(item: Item): boolean {
    const youngest = waiting.removeYoungest(boxOf(item));
    youngest?.reject(limits.overflow('displaced'));
    return youngest !== undefined;
  }

  /** Schedules a start, so that requests read from the sockets in the same turn of the event loop share a run. */
  function schedule(): void {
    if (scheduled) return;
    if (!mayStart()) {
      untilSlow ??= setTimeout(startBesideSlow, limits.slow);
      return;
    }
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      start();
    });
  }

  function mayStart(): boolean {
    if (running.size === 0) return true;
    if (running.size >= limits.inFlight) return false;
    return waiting.length >= limits.beside || performance.now() - lastStart >= limits.slow;
  }

  /** Looks for a slow run: once for all items that wait, not for each of them. */
  function startBesideSlow(): void {
    untilSlow = undefined;
    if (waiting.length > 0) schedule();
  }

  function start(): void {
    if (waiting.length === 0 || !mayStart()) return;
    const batch = waiting.take(limits.size);
    running.add(batch);
    lastStart = performance.now();
    void settle(batch).finally(() => {
      running.delete(batch);
      if (waiting.length > 0) schedule();
    });
    if (waiting.length > 0) schedule();
  }

  /** Rejects overdue entries. A later result of a run has no effect: a promise settles once. */
  function rejectOverdue(): void {
    if (waiting.length === 0 && running.size === 0) {
      clearInterval(watch);
      watch = undefined;
      return;
    }
    const limit = performance.now() - limits.patience;
    const isOverdue = (entry: Entry<Item, Result>): boolean => entry.since <= limit;
    const overdue = [...running].flat().filter(isOverdue).concat(waiting.remove(isOverdue));
    for (const entry of overdue) entry.reject(limits.overdue());
  }

  return { submit };
}

/**
 * Returns a function that resolves or rejects every entry of a batch. It never throws, and returns the outage that
 * ended the runs, if one did.
 */
function settling<Item, Result>(run: BatchRun<Item, Result>, isOutage: (error: unknown) => boolean) {
  async function settle(batch: Entries<Item, Result>): Promise<{ readonly error: unknown } | undefined> {
    try {
      const results = await run(batch.map((entry) => entry.item));
      batch.forEach((entry, index) => {
        const result = results[index];
        if (result === undefined) entry.reject(new Error('the batch gave no result'));
        else entry.resolve(result);
      });
      return undefined;
    } catch (error) {
      return settleFailed(batch, error);
    }
  }

  async function settleFailed(
    batch: Entries<Item, Result>,
    error: unknown,
  ): Promise<{ readonly error: unknown } | undefined> {
    if (batch.length === 1 || isOutage(error)) {
      rejectAll(batch, error);
      return isOutage(error) ? { error } : undefined;
    }
    const middle = batch.length >> 1;
    const outage = await settle(batch.slice(0, middle));
    if (outage === undefined) return settle(batch.slice(middle));
    rejectAll(batch.slice(middle), outage.error);
    return outage;
  }

  function rejectAll(batch: Entries<Item, Result>, error: unknown): void {
    for (const entry of batch) entry.reject(error);
  }

  return settle;
}
