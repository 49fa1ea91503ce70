import { readQuota, type BoxQuota } from '../../operator/desired/namespace-annotations.ts';
import { FileObject, type DeclaredFile, type FileNamespace, type FileSecret } from './declared-file.ts';

/** Declarations of a folder for one box. */
export interface BoxContents {
  readonly objects: readonly FileObject[];
  /** By name. */
  readonly secrets: ReadonlyMap<string, FileSecret>;
  /** The quotas that a Namespace of the folder sets, or the defaults. */
  readonly quota: BoxQuota;
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

interface Box {
  /** By `kind/name`: the one place that declares it, or all of them in the order of files. */
  readonly places: Map<string, Thing | readonly Thing[]>;
  /** By `kind/name`: things that no file declares any more and that {@link FolderIndex.letGo} has not removed yet. */
  readonly missing: Map<string, Missing>;
}

/**
 * Declarations of all files of a folder together. Only {@link FolderIndex.letGo} removes an object that no file has
 * any more, because editors save by unlinking and renaming.
 */
export class FolderIndex {
  readonly #boxes = new Map<string, Box>();

  /** Returns the boxes in which any of our objects is declared. */
  boxes(): readonly string[] {
    return [...this.#boxes.keys()].filter((box) => this.contents(box).objects.length > 0);
  }

  /** Returns the declarations of a box, including missing ones that were not removed yet. */
  contents(box: string): BoxContents {
    const { places, missing } = this.#boxes.get(box) ?? emptyBox();
    const things = [...places.values()].map(firstOf);
    things.push(...[...missing.values()].map(({ thing }) => thing));
    return {
      objects: things.filter(isObjectOfOurs),
      secrets: new Map(things.flatMap((thing) => (isSecret(thing) ? [[thing.name, thing]] : []))),
      quota: readQuota(things.find(isNamespace)?.quota),
    };
  }

  /** Returns the declared object of a name, also if it is missing and was not removed yet. */
  object(box: string, kind: string, name: string): FileObject | undefined {
    const thing = this.#current(box, `${kind}/${name}`);
    return thing !== undefined && isObjectOfOurs(thing) ? thing : undefined;
  }

  /** Checks whether any file declares this object now. */
  isDeclared(box: string, kind: string, name: string): boolean {
    return this.#boxes.get(box)?.places.has(`${kind}/${name}`) ?? false;
  }

  /** Replaces the declarations of a file (undefined: there is no file); returns the boxes whose contents changed. */
  replace(before: DeclaredFile | undefined, after: DeclaredFile | undefined, now: number): Set<string> {
    const touched = new Map<string, { readonly box: string; readonly key: string; readonly was: Thing | undefined }>();
    const touch = ({ namespace: box }: Thing, key: string): void => {
      const place = `${box}/${key}`;
      if (!touched.has(place)) touched.set(place, { box, key, was: this.#current(box, key) });
    };
    for (const thing of thingsOf(before)) {
      const key = keyOf(thing);
      touch(thing, key);
      this.#remove(thing, key);
    }
    for (const thing of thingsOf(after)) {
      const key = keyOf(thing);
      touch(thing, key);
      this.#add(thing, key);
    }
    const changed = new Set<string>();
    for (const { box, key, was } of touched.values()) if (this.#settle(box, key, was, now)) changed.add(box);
    return changed;
  }

  /** True if anything is missing that was not removed yet. */
  get hasMissing(): boolean {
    return [...this.#boxes.values()].some(({ missing }) => missing.size > 0);
  }

  /** Removes things that have been missing since `since` or longer; returns the boxes whose contents changed. */
  letGo(since: number): Set<string> {
    const changed = new Set<string>();
    for (const [name, { missing }] of this.#boxes) {
      for (const [key, one] of missing) {
        if (one.since > since) continue;
        missing.delete(key);
        changed.add(name);
      }
    }
    return changed;
  }

  /** Returns every object that more than one place declares. */
  duplicates(): readonly Duplicate[] {
    const several = [...this.#boxes.values()].flatMap(({ places }) => [...places.values()].filter(isSeveral));
    return several.flatMap((places) => {
      const [counts, ...others] = places.filter(isObjectOfOurs);
      return counts === undefined ? [] : others.map((object) => ({ object, counts }));
    });
  }

  #remove(thing: Thing, key: string): void {
    const places = this.#boxes.get(thing.namespace)?.places;
    const others = listOf(places?.get(key)).filter((one) => one !== thing);
    if (others.length === 0) places?.delete(key);
    else places?.set(key, oneOrAll(others));
  }

  #add(thing: Thing, key: string): void {
    const box = this.#boxes.get(thing.namespace) ?? emptyBox();
    this.#boxes.set(thing.namespace, box);
    box.places.set(key, oneOrAll([...listOf(box.places.get(key)), thing].sort(byFile)));
  }

  /** Records whether a thing is missing now; returns whether the contents of the box changed. */
  #settle(box: string, key: string, was: Thing | undefined, now: number): boolean {
    const { places, missing } = this.#boxes.get(box) ?? emptyBox();
    const place = places.get(key);
    if (place === undefined) {
      if (was !== undefined && !missing.has(key)) missing.set(key, { thing: was, since: now });
      return false;
    }
    missing.delete(key);
    return !isSame(was, firstOf(place));
  }

  #current(box: string, key: string): Thing | undefined {
    const found = this.#boxes.get(box);
    const place = found?.places.get(key);
    return place === undefined ? found?.missing.get(key)?.thing : firstOf(place);
  }
}

/** Checks whether a thing that was read again is the same. */
function isSame(one: Thing | undefined, other: Thing): boolean {
  if (one === other) return true;
  if (one === undefined || !isObjectOfOurs(one) || !isObjectOfOurs(other)) return false;
  return one.resourceVersion === other.resourceVersion && one.file === other.file && one.line === other.line;
}

function emptyBox(): Box {
  return { places: new Map(), missing: new Map() };
}

function thingsOf(file: DeclaredFile | undefined): readonly Thing[] {
  return file === undefined ? [] : [...file.objects, ...file.secrets, ...file.namespaces];
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

function listOf(place: Thing | readonly Thing[] | undefined): readonly Thing[] {
  if (place === undefined) return [];
  return isSeveral(place) ? place : [place];
}

function firstOf(place: Thing | readonly Thing[]): Thing {
  const [first] = listOf(place);
  if (first === undefined) throw new TypeError('an object without a place');
  return first;
}

/** Returns a list only for several places: a list for each thing would take a third of the memory. */
function oneOrAll(places: readonly Thing[]): Thing | readonly Thing[] {
  const [first, second] = places;
  return first !== undefined && second === undefined ? first : places;
}

function byFile(one: Thing, other: Thing): number {
  if (one.file === other.file) return one.line - other.line;
  return one.file < other.file ? -1 : 1;
}

function keyOf(thing: Thing): string {
  return isObjectOfOurs(thing) ? thing.key : `${isSecret(thing) ? 'Secret' : 'Namespace'}/${thing.name}`;
}
