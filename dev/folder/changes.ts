import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

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

/** A watch on a set of folders. */
export interface FolderWatch {
  /** Watches exactly these folders from now on: identities (device and inode) by absolute path. */
  follow(folders: ReadonlyMap<string, string>): void;
  /** True if every folder is watched: the system's limit of watches may be lower. */
  readonly hearsAll: boolean;
  close(): void;
}

/**
 * Calls back with the absolute path of anything that changed in the followed folders, or with undefined if the path is
 * unknown. Uses one watch for each folder: Node's recursive watch on Linux takes one for each file.
 */
export function createFolderWatch(onChange: (changed: string | undefined) => void): FolderWatch {
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  const deaf = new Set<string>();

  function open(folder: string, identity: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        onChange(name === null ? undefined : path.join(folder, name));
      });
      watcher.on('error', () => {
        close(folder);
        onChange(undefined);
      });
      watchers.set(folder, { watcher, identity });
      deaf.delete(folder);
    } catch {
      deaf.add(folder);
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
      for (const folder of deaf) if (!folders.has(folder)) deaf.delete(folder);
      for (const [folder, identity] of folders) if (!watchers.has(folder)) open(folder, identity);
    },
    get hearsAll() {
      return deaf.size === 0;
    },
    close() {
      for (const folder of [...watchers.keys()]) close(folder);
    },
  };
}
