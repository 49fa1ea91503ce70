import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countsIn, failedFilesIn } from './reporter.ts';

/** Mocha over one file of tests, as `npm test` calls it. */
function runMocha(tests: string, options: readonly string[] = [], CI = '') {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-reporter-'));
  const file = path.join(folder, 'x.test.cjs');
  writeFileSync(file, tests);
  const mocha = [path.resolve('node_modules/mocha/bin/mocha.js'), '--no-config', '--fail-zero'];
  const reporter = ['--reporter', path.resolve('test/house/reporter.ts')];
  const run = spawnSync(process.execPath, [...mocha, ...reporter, ...options, file], {
    encoding: 'utf8',
    env: { ...process.env, CI },
  });
  rmSync(folder, { recursive: true });
  const failed = run.stdout.split('\n').filter((line) => line.startsWith('failed: '));
  return {
    status: run.status,
    failed,
    files: failedFilesIn(run.stdout).map((name) => path.resolve(name) === file),
    lastLine: run.stdout.trimEnd().split('\n').at(-1),
    counts: countsIn(run.stdout),
    lines: run.stdout.split('\n').filter((line) => line.includes(' passed') && line.includes(' s  ')),
  };
}

describe('a test run', () => {
  it('ends with a line for each failure, one for each file that has one, and its counts', () => {
    const tests = `it('a', () => {}); it('later');
      describe('a box', () => { it('holds', () => { throw new Error('it is empty\\nand more'); }); });
      describe('a hook', () => { before(() => { throw new Error('h'); }); it('b', () => {}); });`;
    const run = runMocha(tests, ['--parallel', '--jobs', '2']);
    expect(run).to.deep.include({
      failed: ['failed: a box holds: it is empty and more', 'failed: a hook "before all" hook for "b": h'],
      files: [true],
      lastLine: '1 passed, 2 failed, 1 skipped',
      counts: { passed: 1, failed: 2, skipped: 1 },
    });
    expect(run.status).to.be.above(0);
  });

  for (const options of [[], ['--parallel', '--jobs', '2']]) {
    const how = options.length === 0 ? '' : ', with two at a time';
    it(`has a line for each file in CI${how}`, () => {
      const tests = "it('a', () => {}); it('b', () => {}); it('c', () => { throw new Error('c'); }); it('later');";
      const { lines } = runMocha(tests, options, 'true');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/^ +0\.\d s {2}.*x\.test\.cjs {2}2 passed, 1 failed, 1 skipped$/);
    });

    it(`fails with its counts when SIGTERM ends it${how}`, () => {
      const run = options.length === 0 ? 'process.pid' : 'process.ppid';
      const tests = `it('a', () => {}); it('hangs', (done) => { process.kill(${run}, 'SIGTERM'); });`;
      const passed = options.length === 0 ? 1 : 0;
      expect(runMocha(tests, options, 'true')).to.deep.include({
        status: 1,
        failed: ['failed: the run, which was ended before its last test'],
        counts: { passed, failed: 1, skipped: 0 },
      });
    });
  }

  it('fails without a test, and in CI with one that is skipped', () => {
    expect(runMocha('')).to.deep.include({ status: 1, lastLine: '0 passed, 0 failed, 0 skipped' });
    expect(runMocha("it('later');", ['--forbid-pending']).status).to.equal(1);
  });
});
