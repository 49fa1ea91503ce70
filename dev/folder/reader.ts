import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { FileObject, type DeclaredFile, FolderIndex } from './index.ts';
import { reasonOf, walk, type FileStamp, type FoundFile } from '../../api/client/manifest/walk.ts';
import { API_VERSION } from '../../crds/kind.ts';
import { parseManifests } from '../../api/client/manifest/manifest-file.ts';
import type { ForeignObject, ManifestFile, ManifestObject } from '../../api/client/manifest/manifest-file.ts';

/** A problem of the folder that people must know about. */
export interface FolderProblem {
  readonly file: string;
  /** From 1; 0 if it is not about a line. */
  readonly line: number;
  readonly message: string;
  /** True if nothing of the folder may be removed, because other declarations are unknown. */
  readonly blocks: boolean;
}

/** Options for reading a folder; `onProgress` is called during a long reading. */
export interface FolderReaderOptions {
  /** Absolute path. */
  readonly folder: string;
  /** Absolute path of a folder inside that is skipped. */
  readonly excluded: string;
  /** Returns the name of a file for people. */
  readonly display: (file: string) => string;
  readonly onProgress: (done: number, of: number) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

interface KnownFile extends DeclaredFile {
  readonly stamp: FileStamp;
  readonly problems: readonly FolderProblem[];
}

/** A shared empty list: most files have no Secrets and no problems. */
const none: readonly never[] = [];

/** Milliseconds between the two listings that must miss an object before it is considered deleted. */
export const MOMENT = 150;

/** Age in milliseconds below which a file may change again within the same tick of its time stamp. */
const tick = 50;
/** The stamp of such a file: it is read again at the next look. */
const unsettled = 'unsettled';
const largestFile = 64 * 1024 * 1024;
/** Milliseconds of reading after which other work gets its turn. */
const turn = 10;
/** Number of files up to which no progress is reported. */
const manyFiles = 500;

/** Declarations of a folder of manifests, as of its last listing. A file that did not change is not read again. */
export class FolderReader {
  readonly index = new FolderIndex();
  readonly #options: FolderReaderOptions;
  readonly #files = new Map<string, KnownFile>();
  /** False if the index does not have the files as they were last read. */
  #isIndexed = true;
  #folders: ReadonlyMap<string, string> = new Map();
  #closed: readonly FolderProblem[] = [];
  #listedAt = -Infinity;
  #listing: Promise<unknown> = Promise.resolve();

  constructor(options: FolderReaderOptions) {
    this.#options = options;
  }

  /** Identity of every listed folder, by its path. */
  get folders(): ReadonlyMap<string, string> {
    return this.#folders;
  }

  /** Milliseconds until a new listing begins a moment after the last one; 0 or less if it would already. */
  get untilNextMoment(): number {
    return this.#listedAt + MOMENT - this.#options.now();
  }

  /** True if everything could be read. */
  get isComplete(): boolean {
    return !this.problems().some(({ blocks }) => blocks);
  }

  /** Returns the problems that people must know about, in the order of files. */
  problems(): readonly FolderProblem[] {
    const broken = [...this.#files.values()].flatMap(({ problems }) => problems);
    const twice = this.index.duplicates().map(({ object, counts }) => ({
      file: this.#options.display(object.file),
      line: object.line,
      message: `${object.kind} ${object.namespace}/${object.name} is declared in ${counts.place} too; that one counts`,
      blocks: false,
    }));
    return [...this.#closed, ...broken, ...twice].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  }

  /**
   * Lists the folder and reads changed files, after any listing in progress; resolves with the boxes that changed.
   * Removes what this listing and one a moment ago have missed. Throws if the folder itself cannot be listed.
   */
  async listAll(): Promise<ReadonlySet<string>> {
    const listing = this.#listing.then(() => this.#listNow());
    this.#listing = listing.catch(() => undefined);
    return listing;
  }

  async #listNow(): Promise<ReadonlySet<string>> {
    const began = this.#options.now();
    const { files, folders, closed } = await this.#found();
    for (const file of this.#files.keys()) {
      if (files.has(file)) continue;
      this.#files.delete(file);
      this.#isIndexed = false;
    }
    await this.#readChanged(files);
    const changed = this.#isIndexed ? [] : this.index.update(this.#files.values(), this.#options.now());
    this.#isIndexed = true;
    this.#folders = folders;
    this.#closed = closed;
    this.#listedAt = began;
    const gone = this.isComplete ? this.index.forgetMissing(began - MOMENT) : [];
    return new Set([...changed, ...gone]);
  }

  async #found() {
    const files = new Map<string, FoundFile>();
    const folders = new Map<string, string>();
    const closed: FolderProblem[] = [];
    const pause = pauses();
    for (const found of walk(this.#options.folder, this.#options.excluded)) {
      if (found.type === 'file') files.set(found.path, found.found);
      else if (found.type === 'folder') folders.set(found.path, found.identity);
      else closed.push(this.#problem(found.path, 0, `cannot be listed: ${found.reason}`));
      await pause();
    }
    return { files, folders, closed };
  }

  async #readChanged(files: ReadonlyMap<string, FoundFile>): Promise<void> {
    const due = [...files].filter(([file, { stamp }]) => this.#files.get(file)?.stamp !== stamp);
    const pause = pauses();
    for (const [done, [file, found]] of due.entries()) {
      this.#read(file, found);
      if ((await pause()) && due.length > manyFiles) this.#options.onProgress(done + 1, due.length);
    }
    if (due.length > manyFiles) this.#options.onProgress(due.length, due.length);
  }

  /** Reads one file as it is now. */
  #read(file: string, found: FoundFile): void {
    const before = this.#files.get(file);
    const read = readManifests(file, found.size);
    const noted = { stamp: found.age > tick ? found.stamp : unsettled };
    if (!read.ok) {
      const { line, message } = read.fault;
      const problems = [this.#problem(file, line, `cannot be read: ${message}`)];
      this.#files.set(file, { objects: none, secrets: none, namespaces: none, ...before, ...noted, problems });
      return;
    }
    const byLine = new Map(before?.objects.map((object) => [object.line, object]));
    const objects = read.objects.map((manifest) => this.#object(file, manifest, byLine.get(manifest.line)));
    const secrets = read.secrets.length === 0 ? none : read.secrets.map((secret) => ({ ...secret, file }));
    const namespaces = read.namespaces.length === 0 ? none : read.namespaces.map((one) => ({ ...one, file }));
    const problems = read.foreign.length === 0 ? none : read.foreign.map((one) => this.#foreign(file, one));
    this.#files.set(file, { objects, secrets, namespaces, ...noted, problems });
    this.#isIndexed = false;
  }

  /** Returns the previous object if it is unchanged, so that nothing processes it again. */
  #object(file: string, manifest: ManifestObject, before: FileObject | undefined): FileObject {
    const { kind, namespace, name, version } = manifest;
    const isSame = before?.resourceVersion === version && before.name === name && before.kind === kind;
    if (isSame && before.namespace === namespace) return before;
    const current = this.index.object(namespace, kind, name);
    const generation = current === undefined ? 1 : current.generation + (current.resourceVersion === version ? 0 : 1);
    return new FileObject(file, manifest, generation, this.#options.display);
  }

  #foreign(file: string, { kind, line }: ForeignObject): FolderProblem {
    const message = `${kind} of another API group is skipped; those of Boxgate have \`apiVersion: ${API_VERSION}\``;
    return { ...this.#problem(file, line, message), blocks: false };
  }

  #problem(file: string, line: number, message: string): FolderProblem {
    return { file: this.#options.display(file), line, message, blocks: true };
  }
}

function readManifests(file: string, size: number): ManifestFile {
  if (size > largestFile) return unreadable('it is larger than 64 MiB');
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return unreadable(reasonOf(error));
  }
  try {
    return parseManifests(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return unreadable('it is not UTF-8 text');
    throw error;
  }
}

function unreadable(message: string): ManifestFile {
  return { ok: false, fault: { line: 0, message } };
}

/** Creates a function that lets other work run once a turn is over, and resolves with whether it did. */
function pauses(): () => Promise<boolean> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < turn) return false;
    await setImmediate();
    began = performance.now();
    return true;
  };
}
