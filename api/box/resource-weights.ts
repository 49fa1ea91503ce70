import type { ResourceRow } from '../db/box/config-changes.ts';

/** Approximate bytes of memory of the resources of a box. */
export interface ResourceWeights {
  readonly bytes: number;
  /** Sets the weight of a resource, replacing that of the same name. */
  put(row: Pick<ResourceRow, 'kind' | 'id' | 'size'>): void;
  /** Removes the weight of a resource. */
  remove(name: { readonly kind: string; readonly id: string }): void;
}

/** Bytes of a client or policy of the usual size, with everything derived from it (measured). */
export const usualResource = 2_000;

/** Bytes of memory for a character of JSON: objects and lists take more than their text. */
export const bytesPerCharacter = 6;

/** Creates the weights of an empty box. */
export function createWeights(): ResourceWeights {
  const weights = new Map<string, number>();
  let bytes = 0;

  function remove({ kind, id }: { readonly kind: string; readonly id: string }): void {
    const key = `${kind}/${id}`;
    bytes -= weights.get(key) ?? 0;
    weights.delete(key);
  }

  return {
    get bytes() {
      return bytes;
    },
    remove,
    put(row) {
      remove(row);
      const weight = Math.max(usualResource, row.size * bytesPerCharacter);
      weights.set(`${row.kind}/${row.id}`, weight);
      bytes += weight;
    },
  };
}
