import type { ResourceRow } from '../db/config-changes.ts';

/** Bytes of memory that the resources of a box take, about. */
export interface ResourceWeights {
  readonly bytes: number;
  /** Weighs a resource in place of the one of its name. */
  put(row: Pick<ResourceRow, 'kind' | 'id' | 'size'>): void;
  /** Takes away the weight of a resource. */
  remove(name: { readonly kind: string; readonly id: string }): void;
}

/** Bytes that a client or policy of the usual size takes with all that is made of it (measured). */
export const usualResource = 2_000;

/** Bytes of memory for a character of JSON: objects and lists take more than their text. */
export const bytesPerCharacter = 6;

/** Creates the weights of a box that has nothing. */
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
