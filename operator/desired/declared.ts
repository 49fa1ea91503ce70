import type { Owner } from '../../api/client/desired-state.ts';
import type { Secret } from '../../api/client/secret.ts';
import type { Kind } from '../../crds/kind.ts';

/** One declared object, as its source (a cluster, a folder) has it now. */
export interface Declared {
  /** Key of the object within its box: {@link objectKey}. */
  readonly key: string;
  readonly kind: Kind;
  /** The box. */
  readonly namespace: string;
  readonly name: string;
  /** Changes when the object is deleted and created again. */
  readonly uid: string;
  /** Creation time, sortable as text: of two objects that claim one id the older one has it. */
  readonly created: string;
  /** Increases with each change of the spec. */
  readonly generation: number;
  /** Changes whenever anything that we read of the object changes. */
  readonly resourceVersion: string;
  /** Returns the whole object as declared, not yet validated; until then the source may keep it in another form. */
  readonly body: () => unknown;
  /** Characters of a spec that is too long to be applied: the source keeps only its `id` and `suspend`. */
  readonly tooLarge?: number | undefined;
  /** Characters of the spec as JSON; absent if nothing is written back to the object. */
  readonly length?: number;
  /** Location of the object, for people: `examples/reporting.yaml:12`; empty in a cluster. */
  readonly place: string;
}

/** A Secret that clients may refer to. */
export interface DeclaredSecret {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Entries by key; the same key always returns the same Secret. */
  readonly entries: Pick<ReadonlyMap<string, Secret>, 'get'>;
}

/** Returns the key of an object within its box: `Client/app`. */
export function objectKey({ kind, name }: Pick<Declared, 'kind' | 'name'>): string {
  // Not a template literal: it builds a string of parts, which takes twice the memory once it is a key.
  return [kind, name].join('/');
}

/** An object of a box that is to be read again, or waited for. */
export type ObjectName = Pick<Declared, 'kind' | 'name' | 'uid'>;

/** Names and uid that tell one object from all others. */
export type Identity = Pick<Declared, 'namespace' | 'name' | 'uid'>;

/** Returns the object as the API knows it: the owner of its row. */
export function ownerOf({ namespace, name, uid }: Identity): Owner {
  return { name: `${namespace}/${name}`, uid };
}

/** Returns the object that an owner names. */
export function declarerOf({ name, uid }: Owner): Identity {
  const slash = name.indexOf('/');
  return { namespace: name.slice(0, slash), name: name.slice(slash + 1), uid };
}
