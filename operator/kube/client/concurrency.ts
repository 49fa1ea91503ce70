/** Limit of concurrent calls of the Kubernetes API. */
const lanes = 16;

/** Characters of objects written at once, roughly: each is read, checked and stored as a whole before others. */
const lengthAtOnce = 262_144;

/**
 * Does work for each item, several at a time; if some fail the others still run, then the first failure is thrown.
 * `lengthOf` returns the characters of the object that is written: fewer large ones are written at a time, at least
 * two.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  lengthOf: (item: T) => number = () => 0,
): Promise<void> {
  const waiting = items.values();
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (const item of waiting) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanesFor(items, lengthOf), items.length) }, lane));
  if (errors.length > 0) throw errors[0];
}

function lanesFor<T>(items: readonly T[], lengthOf: (item: T) => number): number {
  const total = items.reduce((sum, item) => sum + lengthOf(item), 0);
  return Math.min(lanes, Math.max(2, Math.floor((lengthAtOnce * items.length) / Math.max(1, total))));
}
