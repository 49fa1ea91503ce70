import type { Owner } from '../api/client/desired-state.ts';
import type { Secret } from '../api/client/secret.ts';
import type { Kind } from '../crds/kind.ts';

/** One object that somebody declared, as its source (a cluster, a folder) has it now. */
export interface Declared {
  /** Names it within its box: {@link objectKey}. */
  readonly key: string;
  readonly kind: Kind;
  /** The box. */
  readonly namespace: string;
  readonly name: string;
  /** Another one when the object was deleted and made again. */
  readonly uid: string;
  /** Sorts by age as text: of two objects that claim one id the oldest has it. */
  readonly created: string;
  /** Rises with each change of the spec. */
  readonly generation: number;
  /** Another one whenever anything we read of the object changed. */
  readonly resourceVersion: string;
  /** The whole object as it is declared, not yet judged; the source may keep it in a form of its own until asked. */
  readonly body: () => unknown;
  /** Characters of a spec that is too long to be applied: the source keeps its id of it, and nothing else. */
  readonly tooLarge?: number | undefined;
  /** Characters of its spec as JSON; absent where nobody has to know, because nothing is written back to it. */
  readonly length?: number;
  /** Where it stands, for people: `examples/reporting.yaml:12`; empty in a cluster. */
  readonly place: string;
}

/** A Secret that clients may refer to. */
export interface DeclaredSecret {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The same Secret for the same key each time. */
  readonly entries: Pick<ReadonlyMap<string, Secret>, 'get'>;
}

/** Names an object within its box: `Client/app`. */
export function objectKey({ kind, name }: Pick<Declared, 'kind' | 'name'>): string {
  // Not a template: that makes a string of parts, which takes twice the memory once it is a key.
  return [kind, name].join('/');
}

/** An object of a box that is to be looked for, or waited for, once more. */
export type ObjectName = Pick<Declared, 'kind' | 'name' | 'uid'>;

/** What tells one object from all others. */
export type Identity = Pick<Declared, 'namespace' | 'name' | 'uid'>;

/** The object as the API knows it: the owner of its row. */
export function ownerOf({ namespace, name, uid }: Identity): Owner {
  return { name: `${namespace}/${name}`, uid };
}

/** The object that an owner names. */
export function declarerOf({ name, uid }: Owner): Identity {
  const slash = name.indexOf('/');
  return { namespace: name.slice(0, slash), name: name.slice(slash + 1), uid };
}
