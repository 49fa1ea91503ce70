import { waitAfter, type BackOff } from './back-off.ts';
import { createPassOrder } from './pass-order.ts';

/** A queue of keys. It holds each key once, runs one pass of a key at a time, and retries failed ones forever. */
export interface Queue {
  /** Number of keys that wait for their pass, without those that wait after a failure. */
  readonly waiting: number;
  /** Number of those without a running pass of their own: they wait for the passes of other keys. */
  readonly held: number;
  /** Checks whether this key was added since its running pass began. */
  isAddedAgain(key: string): boolean;
  /** Requests a pass of this key; if its pass is running, the key runs once more afterwards. */
  add(key: string): void;
  /** Resolves when nothing runs and nothing is ready to run (keys that wait after a failure are ignored). */
  idle(): Promise<void>;
  /** Accepts no more keys, and resolves when the running passes have ended. */
  stop(): Promise<void>;
}

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
  /** Returns milliseconds: the duration of earlier passes decides whose turn it is. */
  readonly clock: () => number;
  readonly schedule: (wait: number, callback: () => void) => () => void;
}

/**
 * Creates an empty queue. Keys run in the order in which they became ready, but those with long recent passes after the
 * others: neither a key that keeps failing nor one with long passes delays the rest.
 */
export function createQueue(options: QueueOptions): Queue {
  return new KeyQueue(options);
}

class KeyQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #ready = createPassOrder();
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were added while they ran. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  /** Failed keys, with the function that cancels their wait. */
  readonly #backingOff = new Map<string, () => void>();
  #idlers: (() => void)[] = [];
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#ready.waiting + this.#again.size;
  }

  get held(): number {
    return this.#ready.waiting;
  }

  isAddedAgain(key: string): boolean {
    return this.#again.has(key);
  }

  add(key: string): void {
    if (this.#stopped) return;
    if (this.#running.has(key)) this.#again.add(key);
    else this.#makeReady(key);
  }

  idle(): Promise<void> {
    if (this.#running.size === 0 && this.#ready.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idlers.push(resolve));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#ready.clear();
    for (const cancel of this.#backingOff.values()) cancel();
    this.#backingOff.clear();
    await Promise.all(this.#running.values());
  }

  #makeReady(key: string): void {
    this.#backingOff.get(key)?.();
    this.#backingOff.delete(key);
    this.#ready.arrive(key);
    this.#startNext();
  }

  #startNext(): void {
    while (this.#ready.waiting > 0) {
      if (this.#stopped || this.#running.size >= this.#options.concurrency) return;
      const key = this.#ready.next();
      if (key !== undefined) this.#running.set(key, this.#pass(key));
    }
    if (this.#running.size > 0) return;
    for (const done of this.#idlers) done();
    this.#idlers = [];
  }

  async #pass(key: string): Promise<void> {
    // Delayed, so that the key is among the running ones before its pass begins.
    await Promise.resolve();
    let wait: number | undefined;
    const began = this.#options.clock();
    try {
      await this.#options.run(key);
      this.#failures.delete(key);
    } catch (error) {
      wait = this.#failed(key, error);
    }
    this.#running.delete(key);
    this.#ready.took(key, this.#options.clock() - began);
    if (this.#again.delete(key)) this.#ready.arrive(key);
    else if (wait !== undefined && !this.#stopped) this.#waitFor(key, wait);
    this.#startNext();
  }

  #failed(key: string, error: unknown): number {
    const count = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, count);
    const wait = waitAfter(count, this.#options.backOff, this.#options.random);
    this.#options.onFailure(key, error, wait);
    return wait;
  }

  #waitFor(key: string, wait: number): void {
    const cancel = this.#options.schedule(wait, () => {
      this.#makeReady(key);
    });
    this.#backingOff.set(key, cancel);
  }
}
