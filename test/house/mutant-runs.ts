import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countsIn } from './reporter.ts';
import { filesOfTheTree } from './tree.ts';

/** How long the tests of one patch may take, in milliseconds; a run that is still going then has noticed: it hangs. */
const patience = 300_000;

/** What the tests say of a patched tree. `does not run`: no test got to its end, so the patch proves nothing. */
export interface Outcome {
  readonly verdict: 'noticed' | 'not noticed' | 'does not run';
  readonly output: string;
}

/** A copy of the working tree as it is now, uncommitted changes included, that shares its node_modules. */
export function makeScratchTree(): { folder: string; remove(): void } {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxgate-mutants-')));
  for (const file of filesOfTheTree()) {
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

/** Applies a patch file to the scratch tree, does the work, takes the patch back. Throws where it does not apply. */
export async function withPatch<T>(folder: string, file: string, work: () => Promise<T>): Promise<T> {
  const patch = path.resolve(file);
  execFileSync('git', ['apply', patch], { cwd: folder, stdio: 'pipe' });
  try {
    return await work();
  } finally {
    execFileSync('git', ['apply', '--reverse', patch], { cwd: folder });
  }
}

/** Runs test files in the scratch tree. */
export async function runTests(folder: string, tests: readonly string[]): Promise<Outcome> {
  const args = ['--bail', '--reporter', 'test/house/reporter.ts', ...tests];
  const { output, hung } = await run('node_modules/.bin/mocha', args, folder);
  if (hung) return { verdict: 'noticed', output };
  const counts = countsIn(output);
  if (counts === undefined || counts.passed + counts.failed === 0) return { verdict: 'does not run', output };
  return { verdict: counts.failed > 0 ? 'noticed' : 'not noticed', output };
}

function run(command: string, args: string[], cwd: string): Promise<{ output: string; hung: boolean }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    let hung = false;
    const limit = setTimeout(() => {
      hung = true;
      // The whole group: a test run that is killed leaves its Postgres behind.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, patience);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject).on('close', () => {
      clearTimeout(limit);
      resolve({ output, hung });
    });
  });
}
