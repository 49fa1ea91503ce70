import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../../../crds/json-value.ts';
import type { DeclaredObject } from './declared-object.ts';

/** Objects whose status in the cluster is not the one that we last saw, or wanted to write. */
export interface ForeignStatusWrites {
  /** Compares the known state of an object with the next one. */
  readonly note: (known: DeclaredObject | undefined, next: DeclaredObject) => void;
  /** Adds an object whose status could not be written. */
  readonly add: (object: { readonly namespace: string; readonly key: string }) => void;
  /** Returns and forgets their keys in a box. */
  readonly take: (box: string) => readonly string[];
}

/** Creates an empty record. Our own writes are known from their answers: the watch reports nothing new about them. */
export function createForeignStatusWrites(): ForeignStatusWrites {
  const keys = new Map<string, Set<string>>();
  const add: ForeignStatusWrites['add'] = ({ namespace, key }) => {
    keys.set(namespace, (keys.get(namespace) ?? new Set()).add(key));
  };
  return {
    add,
    note(known, { uid, status, declared }) {
      if (known?.uid === uid && !isSameJson(known.status, status)) add(declared);
    },
    take(box) {
      const taken = [...(keys.get(box) ?? [])];
      keys.delete(box);
      return taken;
    },
  };
}

/** Compares two texts of JSON; ours has its members in another order than the API server's. */
function isSameJson(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(parseJson(one), parseJson(other));
}
