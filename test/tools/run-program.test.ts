import { expect } from 'chai';
import { tmpdir } from 'node:os';
import { runProgram } from '../../tools/run-program.ts';
import type { RunOptions } from '../../tools/run-program.ts';

const cases: readonly (readonly [how: string, script: string, options: RunOptions, failure: string])[] = [
  ['with a code', 'exit 3', {}, 'Error: sh -c exit 3 ended with 3'],
  ['with a code, and has a title', 'exit 3', { title: 'the build' }, 'Error: the build ended with 3'],
  ['by a signal', 'kill -KILL $$', { title: 'the build' }, 'Error: the build ended with SIGKILL'],
];

describe('a program that a tool runs', () => {
  for (const [how, script, options, failure] of cases) {
    it(`is an error when it ends ${how}`, async () => {
      const error: unknown = await runProgram('sh', ['-c', script], options).catch((cause: unknown) => cause);
      expect(String(error)).to.equal(failure);
    });
  }

  it('is an error when it cannot be run', async () => {
    const error: unknown = await runProgram('boxgate-no-such-command', [], {}).catch((cause: unknown) => cause);
    expect(String(error)).to.equal('Error: boxgate-no-such-command cannot be run');
  });

  it('has the folder and the environment that it is given, and may end with 0', async () => {
    const script = '[ "$PWD $GREETING" = "$WANTED" ]';
    const env = { PATH: process.env['PATH'], GREETING: 'hello', WANTED: `${tmpdir()} hello` };
    await runProgram('sh', ['-c', script], { cwd: tmpdir(), env });
  });
});
