/** Milliseconds without another change before changes are processed: editors write in several steps. */
const quiet = 30;
/** Milliseconds after the first change at which they are processed in any case. */
const longest = 250;

/** Paths that changed, or `anything` if they are not known. */
export type Changes = ReadonlySet<string> | 'anything';

/** A queue that collects changes until no more arrive. */
export class ChangeQueue {
  readonly #paths = new Set<string>();
  #anything = false;
  #first = 0;
  #last = 0;
  #wake: () => void = () => undefined;

  /** Adds a change; `path` is undefined if it is not known. */
  add(path: string | undefined): void {
    if (path === undefined) this.#anything = true;
    else this.#paths.add(path);
    this.#last = performance.now();
    if (this.#first === 0) this.#first = this.#last;
    this.#wake();
  }

  /** Resolves with the changes once no more arrive, or with `anything` after `patience` milliseconds without any. */
  async next(patience: number, signal: AbortSignal): Promise<Changes> {
    const deadline = performance.now() + patience;
    for (;;) {
      const now = performance.now();
      const due = this.#first === 0 ? deadline : Math.min(this.#last + quiet, this.#first + longest);
      if (now >= due || signal.aborted) return this.#take();
      await this.#woken(due - now, signal);
    }
  }

  #take(): Changes {
    const changes = this.#anything || this.#first === 0 ? 'anything' : new Set(this.#paths);
    this.#paths.clear();
    this.#anything = false;
    this.#first = 0;
    return changes;
  }

  #woken(wait: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, wait);
      signal.addEventListener('abort', done);
      this.#wake = done;
    });
  }
}
