import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from './eventually.ts';
import { isRunning } from './processes.ts';

const services = [
  "import { mochaGlobalSetup } from './test/support/services.ts';",
  'await mochaGlobalSetup();',
  "process.stdout.write('ready');",
  'setInterval(() => undefined, 1_000);',
].join('\n');

describe('the Postgres of the tests', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-guarded-'));
    chmodSync(folder, 0o755);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    it(`R-39: ends with its files when the tests end by ${signal}`, async () => {
      const tests = spawn(process.execPath, ['--input-type=module', '--eval', services], {
        env: { ...process.env, TMPDIR: folder, BOXGATE_TEST_POSTGRES: undefined },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(tests, 'exit');
      try {
        await Promise.race([once(tests.stdout, 'data'), ended]);
        const [made = ''] = readdirSync(folder).filter((name) => name.startsWith('boxgate-test-'));
        const pid = Number(readFileSync(path.join(folder, made, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
        expect(isRunning(pid)).to.equal(true);
        tests.kill(signal);
        await ended;
        await eventually('the server has ended', () => !isRunning(pid));
        await eventually('its files are removed', () => !readdirSync(folder).includes(made));
      } finally {
        tests.kill('SIGKILL');
      }
    });
  }
});
