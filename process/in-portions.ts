/** Yields items in portions of `size`, in their order; the last one may be smaller. */
export function* inPortions<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
