import { readFileSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectName } from '../../operator/desired/declared.ts';
import type { Source } from '../../operator/desired/source.ts';
import { MOMENT, type FolderProblem, type FolderReader } from './reader.ts';
import { mayBeListed, reasonOf } from '../../api/client/manifest/walk.ts';
import { Composer, LineCounter, Parser, isNode } from 'yaml';

/** Milliseconds without another change before changes are processed: editors write in several steps. */
const quiet = 30;
/** Milliseconds after the first change at which they are processed in any case. */
const longest = 250;

/** Collects changes until no more arrive. */
class ChangeQueue {
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
interface FolderWatch {
  /** Watches exactly these folders from now on: identities (device and inode) by absolute path. */
  follow(folders: ReadonlyMap<string, string>): void;
  close(): void;
}

/**
 * Calls back when anything changes in the followed folders that a listing may find. Uses one watch for each folder:
 * Node's recursive watch on Linux takes one for each file. A folder that cannot be watched, as beyond the system's
 * limit, is only listed.
 */
function createFolderWatch(onChange: () => void): FolderWatch {
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();

  function open(folder: string, identity: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_type, name) => {
        if (name === null || mayBeListed(path.join(folder, name))) onChange();
      });
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

/** Listeners to the folder: statuses as they change, and all its problems after each look at it. */
export interface FolderListeners {
  readonly writeStatus: Source['writeStatus'];
  readonly onProblems: (problems: readonly FolderProblem[]) => void;
  /** Called when nothing of this box is declared any more: it is taken out of service. */
  readonly onEmpty: (box: string) => void;
}

/** Milliseconds between listings that nothing triggered; listing may take a twentieth of the time at most. */
const leastPeriod = 2_000;
const periodsForOne = 20;

/** Creates a source of declared objects from a folder that the reader has listed at least once. */
export function createFolderSource(reader: FolderReader, folder: string, listeners: FolderListeners): Source {
  /** Boxes without declarations that were reported to the listeners. */
  const empty = new Set<string>();

  return {
    boxes: () => Promise.resolve(reader.index.boxes()),
    async list(box, signal) {
      const isEmpty = await isGone(reader, box, signal);
      const { objects, quota, database } = reader.index.contents(box);
      const listing = { objects, complete: reader.isComplete, quota, database };
      if (!isEmpty) {
        empty.delete(box);
        return listing;
      }
      if (!empty.has(box)) listeners.onEmpty(box);
      empty.add(box);
      return { ...listing, isGone: true };
    },
    boxSecrets(box) {
      const { secrets } = reader.index.contents(box);
      return Promise.resolve({ find: (name) => secrets.get(name), isTaken: (name) => secrets.has(name) });
    },
    watch(onChange, signal) {
      // This cannot fail: an error of a listing is reported as a problem.
      void follow(reader, folder, { onChange, onProblems: listeners.onProblems }, signal);
    },
    confirmGone: (box, objects, signal) => confirmGone(reader, box, objects, signal),
    writeStatus: listeners.writeStatus,
  };
}

/** Checks whether two listings a moment apart have found nothing of a box, and everything could be read. */
async function isGone(reader: FolderReader, box: string, signal: AbortSignal): Promise<boolean> {
  const hasNothing = (): boolean => reader.isComplete && reader.index.contents(box).objects.length === 0;
  if (!hasNothing()) return false;
  await listAgain(reader, signal);
  return hasNothing();
}

/** Lists the folder a moment after its last listing. */
async function listAgain(reader: FolderReader, signal: AbortSignal): Promise<void> {
  const wait = reader.untilNextMoment;
  if (wait > 0) await sleep(wait, undefined, { signal });
  await reader.listAll();
}

/** Returns the objects that two listings a moment apart have missed, the second one started after this call. */
async function confirmGone(
  reader: FolderReader,
  box: string,
  objects: readonly ObjectName[],
  signal: AbortSignal,
): Promise<ReadonlySet<ObjectName>> {
  const isMissing = ({ kind, name }: ObjectName): boolean => !reader.index.isDeclared(box, kind, name);
  const missed = objects.filter(isMissing);
  await listAgain(reader, signal);
  return new Set(reader.isComplete ? missed.filter(isMissing) : []);
}

/** Listeners to changes of boxes, and to the problems of the folder. */
interface Followers extends Pick<FolderListeners, 'onProblems'> {
  readonly onChange: (box: string) => void;
}

async function follow(
  reader: FolderReader,
  folder: string,
  { onChange, onProblems }: Followers,
  signal: AbortSignal,
): Promise<void> {
  const changes = new ChangeQueue();
  const watch = createFolderWatch(() => changes.add());
  let patience = 0;
  for (;;) {
    watch.follow(reader.folders);
    await changes.next(patience, signal);
    if (signal.aborted) break;
    const began = performance.now();
    try {
      for (const box of await reader.listAll()) onChange(box);
      onProblems(reader.problems());
    } catch (error) {
      onProblems([{ file: folder, line: 0, message: `cannot be listed: ${reasonOf(error)}`, blocks: true }]);
    }
    const period = Math.max(leastPeriod, (performance.now() - began) * periodsForOne);
    patience = reader.index.hasMissing && reader.isComplete ? MOMENT : period;
  }
  watch.close();
}

/** Returns the line of a field of the object at `place` (`file:line`), as `file:line`, or else the place. */
export function placeOfField(place: string, field: string): string {
  const colon = place.lastIndexOf(':');
  const file = place.slice(0, colon);
  try {
    return `${file}:${String(lineOfField(readFileSync(file, 'utf8'), Number(place.slice(colon + 1)), field))}`;
  } catch {
    return place;
  }
}

/**
 * Returns the line (from 1) of a field in a file: the field `spec.link[2].id` of the object that begins at `line`, or
 * the nearest field around it that is there. Reads the file's text again, because that is only needed for messages.
 */
export function lineOfField(text: string, line: number, field: string): number {
  const counter = new LineCounter();
  const documents = new Composer().compose(new Parser(counter.addNewLine).parse(text));
  for (const document of documents) {
    if (counter.linePos(document.contents?.range[0] ?? 0).line !== line) continue;
    const steps = stepsOf(field);
    for (; steps.length > 0; steps.pop()) {
      const node: unknown = document.getIn(steps, true);
      if (isNode(node) && node.range) return counter.linePos(node.range[0]).line;
    }
  }
  return line;
}

/** Splits a path: `spec.link[2]["a b"]` becomes `spec`, `link`, 2, `a b`. */
function stepsOf(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? '') : String(JSON.parse(quoted));
  });
}
