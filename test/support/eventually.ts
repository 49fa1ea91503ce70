/**
 * Waits until something holds: asks again and again, up to a deadline far beyond what a slow machine needs. Throws what
 * the last try threw, or says what never came to hold.
 */
export async function eventually(
  what: string,
  holds: () => Promise<boolean> | boolean,
  within = 60_000,
): Promise<void> {
  const deadline = performance.now() + within;
  for (;;) {
    try {
      if (await holds()) return;
      if (performance.now() > deadline) throw new Error(`it never came to hold that ${what}`);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What begins from now on begins in a later millisecond than all that has: two of one millisecond have no order. */
export function nextMillisecond(): Promise<void> {
  const now = Date.now();
  return eventually('the millisecond is over', () => Date.now() > now);
}
