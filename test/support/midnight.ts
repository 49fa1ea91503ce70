const day = 86_400_000;

/** Waits for a day of UTC that begins within two minutes: a test that counts days must not see two of them. */
export async function awayFromMidnight(): Promise<void> {
  const left = day - (Date.now() % day);
  if (left < 120_000) await new Promise((resolve) => setTimeout(resolve, left + 1_000));
}
