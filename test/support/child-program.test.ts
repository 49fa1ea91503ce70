import { expect } from 'chai';
import { tmpdir } from 'node:os';
import { startChild, untilReady } from './child-program.ts';

/** Programs that end before they are ready, and what is told of each. */
const ending: readonly (readonly [how: string, command: string, parameters: readonly string[], told: RegExp])[] = [
  ['exits', 'sh', ['-c', 'echo no such file >&2; sleep 0.2; exit 1'], /^the server has ended: no such file\n$/],
  ['is ended by a signal', 'sh', ['-c', 'echo bad address; sleep 0.2; kill -KILL $$'], /has ended: bad address\n$/],
  ['cannot be started', 'boxgate-no-such-command', [], /has ended: spawn boxgate-no-such-command ENOENT$/],
];

describe('a program that a test starts', () => {
  for (const [how, command, parameters, told] of ending) {
    it(`is not waited for after it ${how}`, async () => {
      const program = startChild(command, parameters, {});
      const failure = await untilReady(program, 'the server', () => false).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error).with.property('message').that.matches(told);
      expect(program.hasEnded()).to.equal(true);
      await program.stop();
    });
  }

  it('has its environment and its folder, reads what is written to it, and ends when it is stopped', async () => {
    const command = 'read -r word; echo "$word $GREETED $PWD"; exec sleep 600';
    const program = startChild('sh', ['-c', command], { env: { GREETED: 'world' }, cwd: tmpdir() });
    program.write('hello\n');
    await untilReady(program, 'the program', () => program.said() === `hello world ${tmpdir()}\n`);
    expect(program.hasEnded()).to.equal(false);
    await program.stop();
    expect(program.hasEnded()).to.equal(true);
  });

  it('does not end this process when it no longer reads', async () => {
    const program = startChild('sh', ['-c', 'exec <&-; echo closed; exec sleep 600'], {});
    await untilReady(program, 'the program', () => program.said() === 'closed\n');
    program.write('hello\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await program.stop();
  });
});
