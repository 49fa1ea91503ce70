import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countsIn } from './reporter.ts';

/** The result of a run of tests. `does not run`: no test got to its end, so the run proves nothing. */
export interface Outcome {
  readonly verdict: 'noticed' | 'not noticed' | 'does not run';
  readonly output: string;
}

/** A copy of these files of the working tree, uncommitted changes included, that shares its node_modules. */
export function makeScratchTree(files: readonly string[]): { folder: string; remove(): void } {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxgate-mutants-')));
  for (const file of files) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    cpSync(file, path.join(folder, file));
  }
  symlinkSync(realpathSync('node_modules'), path.join(folder, 'node_modules'));
  return {
    folder,
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Writes these texts to the files of the scratch tree, does the work, and restores the files. */
export async function withTexts<T>(
  folder: string,
  texts: ReadonlyMap<string, string>,
  work: () => Promise<T>,
): Promise<T> {
  const before = [...texts.keys()].map((file) => [file, readFileSync(path.join(folder, file))] as const);
  try {
    for (const [file, text] of texts) writeFileSync(path.join(folder, file), text);
    return await work();
  } finally {
    for (const [file, bytes] of before) writeFileSync(path.join(folder, file), bytes);
  }
}

/** Settings of one run. */
export interface RunOptions {
  /** Ends the run, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Leaves out the Postgres that .mocharc.json starts: unit tests do not need it. */
  readonly withoutServices?: boolean;
  /** Gives the tests a Postgres of their own, even if BOXGATE_TEST_POSTGRES names one. */
  readonly ownPostgres?: boolean;
  /** The number of test files that run at a time; one by default. */
  readonly jobs?: number;
  /** Goes on after a test that fails. */
  readonly toTheEnd?: boolean;
  /**
   * The run's time limit in milliseconds. A run that takes longer hangs, so its tests have noticed. None by default.
   */
  readonly limit?: number;
}

/** Runs test files in the scratch tree, until one test fails. */
export async function runTests(folder: string, tests: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const settings = options.withoutServices === true ? unitSettings : [];
  const parallel = options.jobs === undefined ? [] : ['--parallel', '--jobs', String(options.jobs)];
  const bail = options.toTheEnd === true ? [] : ['--bail'];
  const args = [...settings, ...parallel, ...bail, '--reporter', 'test/house/reporter.ts', ...tests];
  const { output, hung } = await run(args, folder, options);
  if (hung) return { verdict: 'noticed', output };
  const counts = countsIn(output);
  if (counts === undefined || counts.passed + counts.failed === 0) return { verdict: 'does not run', output };
  return { verdict: counts.failed > 0 ? 'noticed' : 'not noticed', output };
}

/** The settings of .mocharc.json without the services. */
const unitSettings = ['--no-config', '--extension', 'ts', '--timeout', '300000', '--forbid-only', '--fail-zero'];

function run(args: string[], cwd: string, options: RunOptions): Promise<{ output: string; hung: boolean }> {
  const { signal, limit, ownPostgres = false } = options;
  const env = { ...process.env, ...(ownPostgres ? { BOXGATE_TEST_POSTGRES: undefined } : {}) };
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const place = { cwd, env, detached: true };
    const child = spawn('node_modules/.bin/mocha', args, { ...place, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let hung = false;
    const kill = () => {
      // The whole group: a test run that is killed leaves its Postgres behind.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const hang = () => {
      hung = true;
      kill();
    };
    const timer = limit === undefined ? undefined : setTimeout(hang, limit);
    signal?.addEventListener('abort', kill);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject).on('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      if (signal?.aborted === true) reject(new Error('the run was ended', { cause: signal.reason }));
      else resolve({ output, hung });
    });
  });
}
