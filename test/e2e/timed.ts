/** Runs a part of the story and prints the seconds that it took; also when it fails. */
export async function timed<Result>(part: string, run: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  try {
    const result = await run();
    report(part, `${seconds(started)} s`);
    return result;
  } catch (error) {
    report(part, `${seconds(started)} s, failed`);
    throw error;
  }
}

/** Prints a figure of the run. */
export function report(what: string, figure: string): void {
  process.stdout.write(`e2e: ${what}: ${figure}\n`);
}

/** Returns the middle one of some figures. Throws a RangeError if there are none. */
export function median(figures: readonly number[]): number {
  const middle = figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)];
  if (middle === undefined) throw new RangeError('no figures');
  return middle;
}

function seconds(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}
