import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countsIn, failedFilesIn } from './reporter.ts';

/** Mocha over one file of tests, as `npm test` calls it. */
function runMocha(tests: string, ...options: string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-reporter-'));
  const file = path.join(folder, 'x.test.cjs');
  writeFileSync(file, tests);
  const mocha = [path.resolve('node_modules/mocha/bin/mocha.js'), '--no-config', '--fail-zero'];
  const reporter = ['--reporter', path.resolve('test/house/reporter.ts')];
  const run = spawnSync(process.execPath, [...mocha, ...reporter, ...options, file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const failed = run.stdout.split('\n').filter((line) => line.startsWith('failed: '));
  return {
    status: run.status,
    failed,
    files: failedFilesIn(run.stdout).map((name) => path.resolve(name) === file),
    lastLine: run.stdout.trimEnd().split('\n').at(-1),
    counts: countsIn(run.stdout),
  };
}

const passing = "it('a', () => {}); it('b', () => {});";
const pending = "it('later');";

describe('the closing line of a test run', () => {
  const rows = {
    'all that passed': [passing, [], 0, '2 passed, 0 failed, 0 skipped'],
    'a failure': [`${passing} it('c', () => { throw new Error('c'); });`, [], 1, '2 passed, 1 failed, 0 skipped'],
    'a hook that failed': [
      `${passing} before(() => { throw new Error('h'); });`,
      [],
      1,
      '0 passed, 1 failed, 0 skipped',
    ],
    'a test that is pending': [passing + pending, [], 0, '2 passed, 0 failed, 1 skipped'],
    'a pending test as a failure in CI': [passing + pending, ['--forbid-pending'], 1, '2 passed, 1 failed, 0 skipped'],
    'a run that held no test': ['', [], 1, '0 passed, 0 failed, 0 skipped'],
    'the same from two jobs': [passing, ['--parallel', '--jobs', '2'], 0, '2 passed, 0 failed, 0 skipped'],
  } as const satisfies Record<string, readonly [string, readonly string[], number, string]>;

  for (const [what, [tests, options, status, line]] of Object.entries(rows)) {
    it(`counts ${what}`, () => {
      const run = runMocha(tests, ...options);
      expect(run).to.deep.include({ status, lastLine: line });
    });
  }

  it('comes after a line for each failure, with its whole name and the first line of why', () => {
    const broken = `describe('a box', () => { it('holds', () => { throw new Error('it is empty\\nand more'); }); });`;
    for (const jobs of [[], ['--parallel', '--jobs', '2']]) {
      expect(runMocha(broken, ...jobs).failed).to.deep.equal(['failed: a box holds: it is empty']);
    }
  });

  it('comes after a line for each file with a failure, be it of a test or of a hook', () => {
    const broken = `it('a', () => { throw new Error('a'); }); it('b', () => { throw new Error('b'); });`;
    const hook = `describe('x', () => { before(() => { throw new Error('h'); }); it('a', () => {}); });`;
    for (const jobs of [[], ['--parallel', '--jobs', '2']]) {
      expect(runMocha(broken, ...jobs).files).to.deep.equal([true]);
      expect(runMocha(hook, ...jobs).files).to.deep.equal([true]);
      expect(runMocha(passing, ...jobs).files).to.deep.equal([]);
    }
  });

  it('is read back from the output', () => {
    expect(countsIn('noise\n1 passed, 0 failed, 0 skipped\nmore\n12 passed, 3 failed, 4 skipped\n')).to.deep.equal({
      passed: 12,
      failed: 3,
      skipped: 4,
    });
  });

  it('is not found where the run did not come to its end', () => {
    expect(countsIn('  1 passing (2s)\n  said: 1 passed, 0 failed, 0 skipped today\n')).to.equal(undefined);
  });
});
