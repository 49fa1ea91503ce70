/** Ensures that there are partitions for records that are kept for so many days. Throws Outage. */
export type DeclaredDays = (retention: number) => Promise<void>;

/** Milliseconds in a day. */
const day = 86_400_000;

/**
 * Creates a function that creates the partitions of a retention at most once a day in this process: they last until the
 * day after tomorrow, and upkeep creates the next ones. `now` in milliseconds since 1970.
 */
export function createDeclaredDays(make: (retention: number) => Promise<unknown>, now: () => number): DeclaredDays {
  /** Days on which partitions were created, by retention: at most 400 entries. */
  const made = new Map<number, number>();
  return async (retention) => {
    const today = Math.floor(now() / day);
    if (made.get(retention) === today) return;
    await make(retention);
    made.set(retention, today);
  };
}
