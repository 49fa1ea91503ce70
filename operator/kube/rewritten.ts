import type { DeclaredObject } from './declared-object.ts';

/** The objects whose status in the cluster is another one than it was when we last saw or wrote it. */
export interface Rewritten {
  /** Takes what was known of an object, and what comes now. */
  readonly note: (known: DeclaredObject | undefined, next: DeclaredObject) => void;
  /** Their keys, in a box; from now on they are as they should be. */
  readonly take: (box: string) => readonly string[];
}

/** Nothing was rewritten yet. Our own writes are known from their answers: what the watch tells of them is no news. */
export function createRewritten(): Rewritten {
  const keys = new Map<string, Set<string>>();
  return {
    note(known, { namespace, uid, status, declared: { key } }) {
      if (known?.uid !== uid || known.status === status) return;
      keys.set(namespace, (keys.get(namespace) ?? new Set()).add(key));
    },
    take(box) {
      const taken = [...(keys.get(box) ?? [])];
      keys.delete(box);
      return taken;
    },
  };
}
