/** Calls of the Kubernetes API that are under way at once, at most. */
const lanes = 16;

/** Does work for each item, several at a time; when some fail the others have their turn, then the first failure is thrown. */
export async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
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
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
  if (errors.length > 0) throw errors[0];
}
