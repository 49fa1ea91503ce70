import { watch, type FSWatcher } from 'node:fs';

/** Milliseconds without another change before changes are processed: editors write in several steps. */
const quiet = 30;
/** Milliseconds after the first change at which they are processed in any case. */
const longest = 250;

/** Collects changes until no more arrive. */
export class ChangeQueue {
  #first = 0;
  #last = 0;
  #wake: () => void = () => undefined;

  /** Adds a change. */
  add(): void {
    this.#last = performance.now();
    if (this.#first === 0) this.#first = this.#last;
    this.#wake();
  }

  /** Resolves once no more changes arrive, or after `patience` milliseconds without any. */
  async next(patience: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + patience;
    for (;;) {
      const now = performance.now();
      const due = this.#first === 0 ? deadline : Math.min(this.#last + quiet, this.#first + longest);
      if (now >= due || signal.aborted) break;
      await this.#woken(due - now, signal);
    }
    this.#first = 0;
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

/** A watch on a set of folders. */
export interface FolderWatch {
  /** Watches exactly these folders from now on: identities (device and inode) by absolute path. */
  follow(folders: ReadonlyMap<string, string>): void;
  close(): void;
}

/**
 * Calls back when anything changes in the followed folders. Uses one watch for each folder: Node's recursive watch on
 * Linux takes one for each file. A folder that cannot be watched, as beyond the system's limit, is only listed.
 */
export function createFolderWatch(onChange: () => void): FolderWatch {
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();

  function open(folder: string, identity: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, onChange);
      watcher.on('error', () => {
        close(folder);
        onChange();
      });
      watchers.set(folder, { watcher, identity });
    } catch {
      // It is tried again after the next listing.
    }
  }

  function close(folder: string): void {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  }

  return {
    follow(folders) {
      // A folder that was created again is another one: its old watch reports nothing more.
      for (const [folder, { identity }] of watchers) if (folders.get(folder) !== identity) close(folder);
      for (const [folder, identity] of folders) if (!watchers.has(folder)) open(folder, identity);
    },
    close() {
      for (const folder of [...watchers.keys()]) close(folder);
    },
  };
}
