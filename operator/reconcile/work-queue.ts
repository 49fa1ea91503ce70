/** Dependencies of a queue; `schedule` calls back after so many milliseconds unless its result is called first. */
export interface QueueOptions {
  /** Runs one pass. If it throws, the pass is repeated after a wait. */
  readonly run: (key: string) => Promise<void>;
  /** Called on every failure, with the milliseconds that the key waits now. */
  readonly onFailure: (key: string, error: unknown, wait: number) => void;
  /** Limit of keys that run at once. */
  readonly concurrency: number;
  readonly backOff: BackOff;
  readonly random: () => number;
  readonly schedule: (wait: number, callback: () => void) => () => void;
}

/** Limit in milliseconds, as timers cannot wait longer than 24 days: a key that runs early sets its time again. */
const longestWait = 86_400_000;

/**
 * A queue of keys. It holds each key once, runs one pass of a key at a time, and retries failed ones forever. Keys take
 * turns: they run in the order in which they became ready. A pass is bounded, so that neither a key that keeps failing
 * nor one with much work delays the rest.
 */
export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #ready = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were added while they ran. */
  readonly #again = new Set<string>();
  /** By key: the number of failures in a row. */
  readonly #failures = new Map<string, number>();
  /** Keys that wait for a time, with the function that cancels the wait. */
  readonly #timers = new Map<string, () => void>();
  #idlers: (() => void)[] = [];
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Number of keys that wait for their pass, without those that wait for a time. */
  get waiting(): number {
    return this.#ready.size + this.#again.size;
  }

  /** Requests a pass of this key; if its pass is running, the key runs once more afterwards. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#cancel(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#ready.add(key);
    this.#startNext();
  }

  /** Requests a pass of this key after so many milliseconds, in place of an earlier such request. */
  addAfter(key: string, wait: number): void {
    if (this.#stopped || this.#ready.has(key) || this.#again.has(key)) return;
    this.#cancel(key);
    const cancel = this.#options.schedule(Math.min(longestWait, Math.max(0, wait)), () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, cancel);
  }

  /** Requests a pass of every key whose last pass failed. */
  retry(): void {
    for (const key of this.#failures.keys()) this.add(key);
  }

  /** Resolves when nothing runs and nothing is ready to run (keys that wait for a time are ignored). */
  idle(): Promise<void> {
    if (this.#running.size === 0 && this.#ready.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idlers.push(resolve));
  }

  /** Accepts no more keys, and resolves when the running passes have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#ready.clear();
    for (const key of this.#timers.keys()) this.#cancel(key);
    await Promise.all(this.#running.values());
  }

  #cancel(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  #startNext(): void {
    for (const key of this.#ready) {
      if (this.#running.size >= this.#options.concurrency) return;
      this.#ready.delete(key);
      this.#running.set(key, this.#pass(key));
    }
    if (this.#running.size > 0) return;
    for (const done of this.#idlers) done();
    this.#idlers = [];
  }

  async #pass(key: string): Promise<void> {
    // Delayed, so that the key is among the running ones before its pass begins.
    await Promise.resolve();
    const { run, backOff, random, onFailure } = this.#options;
    try {
      await run(key);
      this.#failures.delete(key);
    } catch (error) {
      const count = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, count);
      const wait = waitAfter(count, backOff, random);
      this.addAfter(key, wait);
      onFailure(key, error, wait);
    }
    this.#running.delete(key);
    if (this.#again.delete(key) && !this.#stopped) this.#ready.add(key);
    this.#startNext();
  }
}

/** Wait of a failed key: doubled with each failure in a row, at most `ceiling`; in milliseconds. */
export interface BackOff {
  readonly first: number;
  readonly ceiling: number;
}

/** Quick at first, then one try every 15 to 30 seconds, forever. */
export const defaultBackOff: BackOff = { first: 200, ceiling: 30_000 };

/**
 * Returns the milliseconds to wait after the `failures`-th failure in a row (from 1). `random` in [0, 1) spreads the
 * waits over half of their length, so that many keys do not retry at the same moment.
 */
export function waitAfter(failures: number, { first, ceiling }: BackOff, random: () => number): number {
  const full = Math.min(ceiling, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random() / 2));
}
