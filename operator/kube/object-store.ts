import { isOlder } from './resource-version.ts';

/** What is known of every object of a kind without a look at the rest of it. */
export interface Kept {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Entry<T> {
  kept: T;
  /** The newest version seen. */
  version: string;
}

/** What the readers of a store take for new. */
export interface Novelty<T> {
  /** Whether a new version of an object says nothing new to them. */
  readonly isSame: (known: T, next: T) => boolean;
  /** What is kept then: of the new version what nobody is told of, beside what was known. */
  readonly carry: (known: T, next: T) => T;
}

/**
 * The objects of a kind as they were last heard of, by namespace and name. What comes late or twice changes nothing: an
 * older version never replaces a newer one, and the end of an object never removes one that was made again under its name.
 */
export class ObjectStore<T extends Kept> {
  readonly #namespaces = new Map<string, Map<string, Entry<T>>>();
  readonly #novelty: Novelty<T>;

  constructor(novelty: Novelty<T>) {
    this.#novelty = novelty;
  }

  namespaces(): readonly string[] {
    return [...this.#namespaces.keys()];
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  inNamespace(namespace: string): readonly T[] {
    return [...(this.#namespaces.get(namespace)?.values() ?? [])].map(({ kept }) => kept);
  }

  get(namespace: string, name: string): T | undefined {
    return this.#namespaces.get(namespace)?.get(name)?.kept;
  }

  /** Takes an object; tells whether anything of it is new. */
  put(kept: T): boolean {
    const { namespace, name, uid, resourceVersion } = kept;
    const known = this.#namespaces.get(namespace)?.get(name);
    if (known === undefined) {
      const names = this.#namespaces.get(namespace) ?? new Map<string, Entry<T>>();
      this.#namespaces.set(namespace, names.set(name, { kept, version: resourceVersion }));
      return true;
    }
    if (isOlder(resourceVersion, known.version)) return false;
    known.version = resourceVersion;
    const isSame = known.kept.uid === uid && this.#novelty.isSame(known.kept, kept);
    known.kept = isSame ? this.#novelty.carry(known.kept, kept) : kept;
    return !isSame;
  }

  /** Forgets an object that is gone, unless it is known in a newer version; tells whether it was there. */
  remove({ namespace, name, resourceVersion }: Omit<Kept, 'uid'>): boolean {
    const names = this.#namespaces.get(namespace);
    const known = names?.get(name);
    if (names === undefined || known === undefined || isOlder(resourceVersion, known.version)) return false;
    names.delete(name);
    if (names.size === 0) this.#namespaces.delete(namespace);
    return true;
  }

  /** From now on no version that was seen is newer than one that comes: the cluster was restored from its past. */
  letOlderIn(): void {
    for (const names of this.#namespaces.values()) for (const entry of names.values()) entry.version = '0';
  }

  /** Takes a complete list of this version; returns the namespaces in which anything is new or gone. */
  replace(listed: readonly T[], version: string): ReadonlySet<string> {
    const changed = new Set<string>();
    const there = new Set(listed.map(({ namespace, name }) => `${namespace}/${name}`));
    for (const [namespace, names] of [...this.#namespaces]) {
      for (const name of [...names.keys()]) {
        if (there.has(`${namespace}/${name}`)) continue;
        if (this.remove({ namespace, name, resourceVersion: version })) changed.add(namespace);
      }
    }
    for (const kept of listed) if (this.put(kept)) changed.add(kept.namespace);
    return changed;
  }
}
