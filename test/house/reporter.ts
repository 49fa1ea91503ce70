import Mocha from 'mocha';
import path from 'node:path';

/**
 * Mocha's dots, with the name of each test that fails, at once; then the failures in full, the files that took longest,
 * a line for each failure and one for each file that has one, and as the last line the counts of the run that really
 * was, in the form that .ci/run and mutants.ts read: `N passed, N failed, N skipped`.
 */
class CountingReporter extends Mocha.reporters.Dot {
  /** Milliseconds in the tests and hooks of each file. */
  readonly #times = new Map<string, number>();

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    // Of a run that is cut, this is all that is heard.
    runner.on('fail', (test, error: unknown) => {
      process.stdout.write(`\n  ! ${test.titlePath().join(' ')}: ${firstLine(error)}\n  `);
    });
    for (const event of ['test end', 'hook end']) {
      runner.on(event, ({ file, duration }: Mocha.Runnable) => {
        if (file !== undefined) this.#times.set(file, (this.#times.get(file) ?? 0) + (duration ?? 0));
      });
    }
  }

  override epilogue(): void {
    super.epilogue();
    if (this.#times.size > fewFiles) process.stdout.write(`${slowestFiles(this.#times)}\n`);
    for (const test of this.failures) process.stdout.write(`failed: ${failureLine(test)}\n`);
    for (const file of failedFiles(this.failures)) process.stdout.write(`failed in: ${file}\n`);
    process.stdout.write(`${countsLine(this.stats)}\n`);
  }
}

/** A run of so few files is not looked at for its time. */
const fewFiles = 100;

const shownFiles = 15;

/** Returns a line for each of the files that took longest: where a run that has become slow lost its time. */
function slowestFiles(times: ReadonlyMap<string, number>): string {
  const slowest = [...times].toSorted(([, a], [, b]) => b - a).slice(0, shownFiles);
  const lines = slowest.map(([file, ms]) => `  ${(ms / 1_000).toFixed(0).padStart(4)} s  ${path.relative('', file)}`);
  return ['  Slowest files:', ...lines, ''].join('\n');
}

/**
 * Returns a failed test and the first line of its error. A log that was cut keeps only its end, where these lines are.
 */
function failureLine(test: Mocha.Test): string {
  return `${test.titlePath().join(' ')}: ${firstLine(test.err)}`;
}

function failedFiles(failures: readonly Mocha.Test[]): ReadonlySet<string> {
  return new Set(failures.flatMap(({ file }) => (file === undefined ? [] : [path.relative('', file)])));
}

/** An error of another process is no `Error` here. */
function firstLine(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';
  const [why = ''] = message.split('\n');
  return why.slice(0, 200);
}

/** The closing line. A hook that fails is a failure without a test, so that the counts never hide it. */
function countsLine(stats: Pick<Mocha.Stats, 'passes' | 'failures' | 'pending'>): string {
  return `${stats.passes} passed, ${stats.failures} failed, ${stats.pending} skipped`;
}

/** The counts in the closing line of a run's output; undefined where the run did not come to its end. */
export function countsIn(output: string): { passed: number; failed: number; skipped: number } | undefined {
  const counts = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
  return counts && { passed: Number(counts[1]), failed: Number(counts[2]), skipped: Number(counts[3]) };
}

/** The test files that had failures, as the output of a run names them: paths from the folder of the run. */
export function failedFilesIn(output: string): string[] {
  return [...output.matchAll(/^failed in: (.+)$/gm)].map(([, file = '']) => file);
}

// Mocha takes a reporter as a module's default export.
// eslint-disable-next-line no-restricted-syntax
export default CountingReporter;
