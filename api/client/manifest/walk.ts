import { readdirSync, statSync, type Dirent } from 'node:fs';
import path from 'node:path';

/** Time, size and inode of a file as one text: a change of the file shows without reading it. */
export type FileStamp = string;

/** A regular file: its stamp, its size in bytes, and how many milliseconds ago it was changed. */
export interface FoundFile {
  readonly stamp: FileStamp;
  readonly size: number;
  readonly age: number;
}

/** Something found in a folder: a file that may hold manifests, a folder, or a folder that cannot be listed. */
export type Found =
  | { readonly type: 'file'; readonly path: string; readonly found: FoundFile }
  | { readonly type: 'folder'; readonly path: string; readonly identity: string }
  | { readonly type: 'closed'; readonly path: string; readonly reason: string };

/**
 * Lists a folder and those below it: manifest files (`*.yaml`, `*.yml`, `*.json`; symbolic links are followed) and
 * folders, without those whose name begins with a dot, without node_modules and without `excluded`. Paths are absolute.
 * Throws when the folder itself cannot be listed.
 */
export function* walk(root: string, excluded: string): Generator<Found> {
  readdirSync(root);
  const seen = new Set<string>();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const identity = identityOf(folder);
    // A symbolic link may lead back to a folder that was listed already.
    if (identity === undefined || seen.has(identity)) continue;
    seen.add(identity);
    yield { type: 'folder', path: folder, identity };
    for (const found of children(folder, excluded)) {
      if (typeof found === 'string') folders.push(found);
      else yield found;
    }
  }
}

/** Checks whether a file of this name may hold manifests. */
function isManifestName(name: string): boolean {
  return /^[^.].*\.(yaml|yml|json)$/.test(name);
}

/** Returns a regular file as it is now, or undefined if there is none. Throws other errors. */
function lookAtFile(file: string): FoundFile | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return undefined;
  const { mtimeMs, size, ino } = found;
  return { stamp: [mtimeMs, size, ino].join(' '), size, age: Math.abs(Date.now() - mtimeMs) };
}

/** Checks whether a listing may differ after a change of this path: a manifest, or a folder that is or was there. */
export function mayBeListed(file: string): boolean {
  const name = path.basename(file);
  if (isPassedOver(name)) return false;
  try {
    return isManifestName(name) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true;
  } catch {
    return true;
  }
}

function isPassedOver(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}

/** Lists a folder: yields the paths of folders, and everything else that was found. */
function* children(folder: string, excluded: string): Generator<Found | string> {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    yield { type: 'closed', path: folder, reason: reasonOf(error) };
    return;
  }
  for (const entry of entries) {
    const child = path.join(folder, entry.name);
    if (!isPassedOver(entry.name) && child !== excluded) yield* childOf(child, entry);
  }
}

function* childOf(child: string, entry: Dirent): Generator<Found | string> {
  try {
    if ((entry.isDirectory() || entry.isSymbolicLink()) && isFolder(child)) {
      yield child;
    } else if (isManifestName(entry.name)) {
      const found = lookAtFile(child);
      if (found !== undefined) yield { type: 'file', path: child, found };
    }
  } catch (error) {
    yield { type: 'closed', path: child, reason: reasonOf(error) };
  }
}

function isFolder(child: string): boolean {
  return statSync(child, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function identityOf(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${String(found.dev)}:${String(found.ino)}`;
}

/** Returns the reason why the file system refused, in words for a sentence. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const words: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ENOENT: 'it is not there',
    ENOTDIR: 'it is not a folder',
    EEXIST: 'it is not a folder',
    EROFS: 'its file system is read-only',
    ENOSPC: 'its file system is full',
    EISDIR: 'it is a folder',
    ELOOP: 'its symbolic links go in a circle',
    EMFILE: 'too many files are open',
  };
  return words[code] ?? (error instanceof Error ? error.message : 'unknown');
}
