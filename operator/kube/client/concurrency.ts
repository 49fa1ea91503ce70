import { LARGE_OBJECT } from '../../desired/declared.ts';

/** Limit of concurrent calls of the Kubernetes API. */
const mostAtOnce = 16;

/**
 * Does work for each item, several at a time; if some fail the others still run, then the first failure is thrown.
 * `lengthOf` returns the characters of the object that is written. Of large ones only one is written at a time, beside
 * the others: the API server reads, checks and stores each as a whole.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  lengthOf: (item: T) => number = () => 0,
): Promise<void> {
  const isLarge = (item: T): boolean => lengthOf(item) > LARGE_OBJECT;
  const large = items.filter(isLarge);
  const small = large.length === 0 ? items : items.filter((item) => !isLarge(item));
  const errors: unknown[] = [];
  const inTurn = async (waiting: Iterable<T>): Promise<void> => {
    for (const item of waiting) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  const shared = small.values();
  await Promise.all([
    inTurn(large),
    ...Array.from({ length: Math.min(mostAtOnce, small.length) }, () => inTurn(shared)),
  ]);
  if (errors.length > 0) throw errors[0];
}
