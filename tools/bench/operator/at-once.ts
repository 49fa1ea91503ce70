/** Does work for each item, so many at a time; throws the first failure. */
export async function atOnce<T>(lanes: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** The numbers from 0 up to, but without, this one. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, nth) => nth);
}
