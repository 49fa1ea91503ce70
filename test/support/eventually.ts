/** Milliseconds that one try may count: when the machine stands still, what is waited for stands still with it. */
const longestTry = 30_000;

/** The longest pause between two tries, in milliseconds. */
const longestPause = 100;

/**
 * Waits until something holds: tries again and again, up to a deadline far beyond what a slow machine needs. Throws
 * what the last try threw, or says what never came to hold. Its pauses grow with the wait: the tries of a long wait
 * would take the processor from what is waited for.
 */
export async function eventually(
  what: string,
  holds: () => Promise<boolean> | boolean,
  within = 60_000,
): Promise<void> {
  for (let waited = 0; ;) {
    const before = performance.now();
    try {
      if (await holds()) return;
      if (waited > within) throw new Error(`it never came to hold that ${what}`);
    } catch (error) {
      if (waited > within) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 + waited / 10, longestPause)));
    waited += Math.min(performance.now() - before, longestTry);
  }
}

/** Waits for the next millisecond: two events of one millisecond have no order. */
export function nextMillisecond(): Promise<void> {
  const now = Date.now();
  return eventually('the millisecond is over', () => Date.now() > now);
}
