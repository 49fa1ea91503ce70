import type { ObjectStatus } from '../operator/status/object-status.ts';

/** Value of the first object, in the order of files, that has one. */
export interface FirstOf<T> {
  readonly value: T | undefined;
  note(status: ObjectStatus): void;
  forget(status: ObjectStatus): void;
}

/** Keeps one value out of ten thousand objects; `pick` returns that of an object, or undefined if it has none. */
export function firstOf<T>(pick: (status: ObjectStatus) => T | undefined): FirstOf<T> {
  let first: { readonly key: string; readonly place: string; readonly value: T } | undefined;

  function forget(status: ObjectStatus): void {
    if (first?.key === keyOf(status)) first = undefined;
  }

  return {
    forget,
    note(status) {
      forget(status);
      const value = pick(status);
      const { place } = status;
      if (value !== undefined && (first === undefined || place < first.place)) {
        first = { key: keyOf(status), place, value };
      }
    },
    get value() {
      return first?.value;
    },
  };
}

/** Returns a key that is unique among the objects of all boxes. */
export function keyOf({ namespace, kind, name }: Pick<ObjectStatus, 'namespace' | 'kind' | 'name'>): string {
  return `${namespace}/${kind}/${name}`;
}
