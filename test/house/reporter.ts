import Mocha from 'mocha';
import path from 'node:path';

/** In CI a line for each file that has ended, so that a log which was cut says where the time went; dots otherwise. */
const isInCi = (process.env['CI'] ?? '') !== '';
const Progress = isInCi ? Mocha.reporters.Base : Mocha.reporters.Dot;

/** The tests of a file that have ended, and the milliseconds in its tests and hooks. */
interface FileResult {
  ms: number;
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * The progress of a run, with the name of each test that fails, at once; then the failures in full, the files that took
 * longest, a line for each failure and one for each file that has one, and as the last line the counts of the run that
 * really was, in the form that .ci/run and mutants.ts read: `N passed, N failed, N skipped`. SIGTERM, which .ci/run
 * sends to a run that takes too long, fails the run and prints the same of what has ended by then.
 */
class CountingReporter extends Progress {
  readonly #files = new Map<string, FileResult>();
  /** The file of the last event: mocha tells of one file after another. */
  #current: string | undefined;

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const started = Date.now();
    // Of a run that is cut, this is all that is heard.
    runner.on('fail', (test, error: unknown) => {
      const [before, after] = isInCi ? ['', ''] : ['\n', '  '];
      process.stdout.write(`${before}  ! ${test.titlePath().join(' ')}: ${inOneLine(error)}\n${after}`);
      this.#add(test, 'failed', 1);
    });
    runner.on('pass', (test) => this.#add(test, 'passed', 1));
    runner.on('pending', (test) => this.#add(test, 'skipped', 1));
    for (const event of ['test end', 'hook end']) {
      runner.on(event, (ended: Mocha.Runnable) => this.#add(ended, 'ms', ended.duration ?? 0));
    }
    runner.on('suite end', ({ root }) => root && this.#endFile());
    if (isInCi) runner.once('end', () => this.epilogue());
    process.once('SIGTERM', () => {
      this.#endFile();
      process.stdout.write('\nfailed: the run, which was ended before its last test\n');
      this.stats.failures += 1;
      this.stats.duration = Date.now() - started;
      this.epilogue();
      process.exit(1);
    });
  }

  override epilogue(): void {
    super.epilogue();
    if (this.#files.size > fewFiles) process.stdout.write(`${slowestFiles(this.#files)}\n`);
    for (const test of this.failures) process.stdout.write(`failed: ${failureLine(test)}\n`);
    for (const file of failedFiles(this.failures)) process.stdout.write(`failed in: ${file}\n`);
    process.stdout.write(`${countsLine(this.stats)}\n`);
  }

  #add({ file }: Mocha.Runnable, what: keyof FileResult, much: number): void {
    if (file === undefined) return;
    if (file !== this.#current) this.#endFile();
    this.#current = file;
    const result = this.#files.get(file) ?? { ms: 0, passed: 0, failed: 0, skipped: 0 };
    this.#files.set(file, { ...result, [what]: result[what] + much });
  }

  #endFile(): void {
    const file = this.#current;
    const result = this.#files.get(file ?? '');
    this.#current = undefined;
    if (!isInCi || file === undefined || result === undefined) return;
    const rare = (['failed', 'skipped'] as const).filter((what) => result[what] > 0);
    const counts = [`${result.passed} passed`, ...rare.map((what) => `${result[what]} ${what}`)].join(', ');
    process.stdout.write(`${fileLine(file, result.ms)}  ${counts}\n`);
  }
}

/** A run of so few files is not looked at for its time. */
const fewFiles = 100;

const shownFiles = 15;

/** Returns a line for each of the files that took longest: where a run that has become slow lost its time. */
function slowestFiles(files: ReadonlyMap<string, FileResult>): string {
  const slowest = [...files].toSorted(([, a], [, b]) => b.ms - a.ms).slice(0, shownFiles);
  return ['  Slowest files:', ...slowest.map(([file, { ms }]) => fileLine(file, ms)), ''].join('\n');
}

function fileLine(file: string, ms: number): string {
  return `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${path.relative('', file)}`;
}

/** Returns a failed test and its error in one line. A log that was cut keeps only its end, where these lines are. */
function failureLine(test: Mocha.Test): string {
  return `${test.titlePath().join(' ')}: ${inOneLine(test.err)}`;
}

function failedFiles(failures: readonly Mocha.Test[]): ReadonlySet<string> {
  return new Set(failures.flatMap(({ file }) => (file === undefined ? [] : [path.relative('', file)])));
}

/** Returns the message of an error in one line; an error of another process is no `Error` here. */
function inOneLine(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';
  return message.replaceAll(/\s+/g, ' ').slice(0, 500);
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
