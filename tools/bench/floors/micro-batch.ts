/** Limits of concurrent statements, and of items in each. */
export type BatchLimits = { statements: number; batch: number };

/**
 * The plain micro-batch: items that arrive while statements are under way share the next one. `run` gets the items of
 * one statement and answers them in order.
 */
export function microBatch<Item, Answer>(
  limits: BatchLimits,
  run: (items: Item[]) => Promise<Answer[]>,
): (item: Item) => Promise<Answer> {
  const waiting: { item: Item; resolve: (answer: Answer) => void; reject: (reason: unknown) => void }[] = [];
  let underWay = 0;
  const flush = async (): Promise<void> => {
    if (underWay >= limits.statements || waiting.length === 0) return;
    const taken = waiting.splice(0, limits.batch);
    underWay += 1;
    try {
      const answers = await run(taken.map(({ item }) => item));
      answers.forEach((answer, place) => taken[place]?.resolve(answer));
    } catch (error) {
      taken.forEach(({ reject }) => reject(error));
    }
    underWay -= 1;
    void flush();
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      void flush();
    });
}
