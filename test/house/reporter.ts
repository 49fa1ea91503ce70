import Mocha from 'mocha';
import path from 'node:path';

/**
 * Mocha's dots, with the name of each test that fails, at once; then the failures in full, a line for each failure and one
 * for each file that has one, and as the last line the counts of the run that really was, in the form that .ci/run and
 * mutants.ts read: `N passed, N failed, N skipped`.
 */
class CountingReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    // Of a run that is cut, this is all that is heard.
    runner.on('fail', (test, error: unknown) => {
      process.stdout.write(`\n  ! ${test.titlePath().join(' ')}: ${firstLine(error)}\n  `);
    });
  }

  override epilogue(): void {
    super.epilogue();
    for (const test of this.failures) process.stdout.write(`failed: ${failureLine(test)}\n`);
    for (const file of failedFiles(this.failures)) process.stdout.write(`failed in: ${file}\n`);
    process.stdout.write(`${countsLine(this.stats)}\n`);
  }
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
