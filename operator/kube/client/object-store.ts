/** Properties stored of every object, whatever its kind. */
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

/** Rules by which a change is new to the readers of a store. */
export interface Novelty<T> {
  /** Checks whether a new version of an object says nothing new to them. */
  readonly isSame: (known: T, next: T) => boolean;
  /** Returns the object to store then: the known one, with the parts of the new version that nobody is notified of. */
  readonly carry: (known: T, next: T) => T;
}

/**
 * The objects of a kind as last seen, by namespace and name. Late or repeated input changes nothing: an older version
 * never replaces a newer one, and the end of an object never removes one that was created again under its name.
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

  /** Stores an object; returns whether anything of it is new. */
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

  /** Removes an object that is gone, unless it is known in a newer version; returns whether it existed. */
  remove({ namespace, name, resourceVersion }: Omit<Kept, 'uid'>): boolean {
    const names = this.#namespaces.get(namespace);
    const known = names?.get(name);
    if (names === undefined || known === undefined || isOlder(resourceVersion, known.version)) return false;
    names.delete(name);
    if (names.size === 0) this.#namespaces.delete(namespace);
    return true;
  }

  /** Accepts older versions from now on: the cluster was restored from its past. */
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

/**
 * Checks whether one version of a resource is older than another. Versions of one kind are whole numbers that increase
 * (Kubernetes, API concepts: resource versions); others are not compared, and none of them is older.
 */
export function isOlder(one: string, other: string): boolean {
  if (!isNumber(one) || !isNumber(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
}

function isNumber(version: string): boolean {
  return /^[1-9][0-9]*$|^0$/.test(version);
}
