import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

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
