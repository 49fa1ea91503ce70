import { readDatabase, readQuota } from '../../operator/desired/candidates.ts';
import type { BoxDatabase, BoxQuota } from '../../operator/desired/source.ts';
import { objectKey, type Declared, type DeclaredSecret } from '../../operator/desired/declared.ts';
import { manifestBody, type ManifestNamespace, type ManifestObject } from '../../api/client/manifest/manifest-file.ts';

/** An object of a file as the reconciler reads it. Small: there may be twenty thousand. */
export class FileObject implements Declared {
  readonly key: string;
  readonly kind: ManifestObject['kind'];
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** Absolute path. */
  readonly file: string;
  readonly line: number;
  readonly #json: string;
  readonly #display: (file: string) => string;

  constructor(file: string, manifest: ManifestObject, generation: number, display: (file: string) => string) {
    this.key = objectKey(manifest);
    this.kind = manifest.kind;
    this.namespace = manifest.namespace;
    this.name = manifest.name;
    this.generation = generation;
    this.resourceVersion = manifest.version;
    this.file = file;
    this.line = manifest.line;
    this.#json = manifest.json;
    this.#display = display;
  }

  /** The age of an object in a folder is unknown: the first by name is considered the oldest. */
  readonly created = '';

  /** Objects in a folder have no identity except their name. */
  get uid(): string {
    return `${this.namespace}/${this.name}`;
  }

  get place(): string {
    return `${this.#display(this.file)}:${String(this.line)}`;
  }

  body(): unknown {
    return manifestBody(this, this.#json);
  }
}

/** A Secret of a file. */
interface FileSecret extends DeclaredSecret {
  /** Absolute path. */
  readonly file: string;
  readonly line: number;
}

/** A Namespace of a file that sets quotas or wants a database. */
interface FileNamespace extends ManifestNamespace {
  /** Absolute path. */
  readonly file: string;
}

/** A file as last read. A file that has become unreadable keeps its earlier declarations. */
export interface DeclaredFile {
  readonly objects: readonly FileObject[];
  readonly secrets: readonly FileSecret[];
  readonly namespaces: readonly FileNamespace[];
}

/** Declarations of a folder for one box. */
export interface BoxContents {
  readonly objects: readonly FileObject[];
  /** By name. */
  readonly secrets: ReadonlyMap<string, FileSecret>;
  /** The quotas that a Namespace of the folder sets, or the defaults. */
  readonly quota: BoxQuota;
  /** The database that a Namespace of the folder wants. */
  readonly database: BoxDatabase;
}

/** An object that two places declare: `counts`, the first in the order of file names, is in force. */
export interface Duplicate {
  readonly object: FileObject;
  readonly counts: FileObject;
}

type Thing = FileObject | FileSecret | FileNamespace;

/** A missing thing, and since when it is missing (milliseconds of the caller's clock). */
interface Missing {
  readonly thing: Thing;
  readonly since: number;
}

/** By `kind/name`: the one place that declares a thing, or all of them in the order of files. */
type Places = Map<string, Thing | readonly Thing[]>;

/**
 * Declarations of all files of a folder together. Only {@link FolderIndex.forgetMissing} removes an object that no file
 * has any more, because editors save by unlinking and renaming.
 */
export class FolderIndex {
  #boxes: ReadonlyMap<string, Places> = new Map();
  /** By box, kind and name: things that no file declares any more and that were not removed yet. */
  readonly #missing = new Map<string, Missing>();

  /** Returns the boxes in which any of our objects is declared. */
  boxes(): readonly string[] {
    const all = [...this.#boxes.keys(), ...[...this.#missing.values()].map(({ thing }) => thing.namespace)];
    return [...new Set(all)].filter((box) => this.contents(box).objects.length > 0);
  }

  /** Returns the declarations of a box, including missing ones that were not removed yet. */
  contents(box: string): BoxContents {
    const things = [...(this.#boxes.get(box)?.values() ?? [])].map(firstOf);
    for (const { thing } of this.#missing.values()) if (thing.namespace === box) things.push(thing);
    const namespace = things.find(isNamespace);
    return {
      objects: things.filter(isObjectOfOurs),
      secrets: new Map(things.flatMap((thing) => (isSecret(thing) ? [[thing.name, thing]] : []))),
      quota: readQuota(namespace?.quota),
      database: readDatabase(namespace?.database),
    };
  }

  /** Returns the declared object of a name, also if it is missing and was not removed yet. */
  object(box: string, kind: string, name: string): FileObject | undefined {
    const thing = this.#current(box, `${kind}/${name}`);
    return thing !== undefined && isObjectOfOurs(thing) ? thing : undefined;
  }

  /** Checks whether any file declares this object now. */
  isDeclared(box: string, kind: string, name: string): boolean {
    return this.#boxes.get(box)?.has(`${kind}/${name}`) ?? false;
  }

  /** Takes the declarations of all files as they are now; returns the boxes whose contents changed. */
  update(files: Iterable<DeclaredFile>, now: number): Set<string> {
    const after = placesIn(files);
    const changed = new Set<string>();
    for (const [box, places] of after) {
      for (const [key, place] of places) {
        if (!isSame(this.#current(box, key), firstOf(place))) changed.add(box);
        this.#missing.delete(`${box}/${key}`);
      }
    }
    for (const [box, places] of this.#boxes) {
      for (const [key, place] of places) {
        if (after.get(box)?.has(key) !== true)
          this.#missing.set(`${box}/${key}`, { thing: firstOf(place), since: now });
      }
    }
    this.#boxes = after;
    return changed;
  }

  /** True if anything is missing that was not removed yet. */
  get hasMissing(): boolean {
    return this.#missing.size > 0;
  }

  /** Removes things that have been missing since `since` or longer; returns the boxes whose contents changed. */
  forgetMissing(since: number): Set<string> {
    const changed = new Set<string>();
    for (const [key, one] of this.#missing) {
      if (one.since > since) continue;
      this.#missing.delete(key);
      changed.add(one.thing.namespace);
    }
    return changed;
  }

  /** Returns every object that more than one place declares. */
  duplicates(): readonly Duplicate[] {
    const several = [...this.#boxes.values()].flatMap((places) => [...places.values()].filter(isSeveral));
    return several.flatMap((places) => {
      const [counts, ...others] = places.filter(isObjectOfOurs);
      return counts === undefined ? [] : others.map((object) => ({ object, counts }));
    });
  }

  #current(box: string, key: string): Thing | undefined {
    const place = this.#boxes.get(box)?.get(key);
    return place === undefined ? this.#missing.get(`${box}/${key}`)?.thing : firstOf(place);
  }
}

/** Sorts declarations by box. A list only for several places: one for each thing would take more memory. */
function placesIn(files: Iterable<DeclaredFile>): ReadonlyMap<string, Places> {
  const boxes = new Map<string, Places>();
  for (const { objects, secrets, namespaces } of files) {
    for (const thing of [...objects, ...secrets, ...namespaces]) {
      const places: Places = boxes.get(thing.namespace) ?? new Map<string, Thing | readonly Thing[]>();
      boxes.set(thing.namespace, places);
      const [key, others] = [keyOf(thing), places.get(keyOf(thing))];
      places.set(key, others === undefined ? thing : [others, thing].flat().sort(byFile));
    }
  }
  return boxes;
}

/** Checks whether a thing that was read again is the same. */
function isSame(one: Thing | undefined, other: Thing): boolean {
  if (one === other) return true;
  if (one === undefined || !isObjectOfOurs(one) || !isObjectOfOurs(other)) return false;
  return one.resourceVersion === other.resourceVersion && one.file === other.file && one.line === other.line;
}

function isObjectOfOurs(thing: Thing): thing is FileObject {
  return thing instanceof FileObject;
}

function isSecret(thing: Thing): thing is FileSecret {
  return 'entries' in thing;
}

function isNamespace(thing: Thing): thing is FileNamespace {
  return 'quota' in thing;
}

function isSeveral(place: Thing | readonly Thing[]): place is readonly Thing[] {
  return Array.isArray(place);
}

function firstOf(place: Thing | readonly Thing[]): Thing {
  if (!isSeveral(place)) return place;
  const [first] = place;
  if (first === undefined) throw new TypeError('an object without a place');
  return first;
}

function byFile(one: Thing, other: Thing): number {
  if (one.file === other.file) return one.line - other.line;
  return one.file < other.file ? -1 : 1;
}

function keyOf(thing: Thing): string {
  return isObjectOfOurs(thing) ? thing.key : `${isSecret(thing) ? 'Secret' : 'Namespace'}/${thing.name}`;
}
