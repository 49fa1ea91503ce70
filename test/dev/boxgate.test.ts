import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// The launcher is tried in a scratch checkout with a small program in the place of dev/main.ts.
const program = `
const [what] = process.argv.slice(2);
if (process.connected) { process.once('disconnect', () => process.exit(0)); process.channel?.unref(); }
if (what === 'echo') console.log(JSON.stringify({ args: process.argv.slice(2), program: process.argv[1]  }));
if (what === 'fail') process.exit(7);
if (what === 'die') process.kill(process.pid, 'SIGKILL');
if (what === 'serve') {
  process.on('SIGTERM', () => { console.log('stopping'); clearInterval(open); });
  const open = setInterval(() => undefined, 1000);
  console.log('serving');
}
`;

/**
 * Command lines of the launcher, by the Node that runs it: the pinned one, one that can replace its process, an old
 * one.
 */
const ways = {
  'in the pinned Node': (root: string) => [join(root, 'node_modules/node/bin/node')],
  'from a Node that can replace its process': (root: string) => [join(root, 'other-node')],
  'from an old Node': (root: string) => [join(root, 'other-node'), '--require', join(root, 'old.cjs')],
};

describe('the boxgate command', () => {
  let root = '';

  before(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'boxgate-launcher-')));
    mkdirSync(join(root, 'node_modules/node/bin'), { recursive: true });
    symlinkSync(process.execPath, join(root, 'node_modules/node/bin/node'));
    copyFileSync(process.execPath, join(root, 'other-node'));
    copyLauncher(root);
    writeFileSync(join(root, 'dev/main.ts'), program);
    writeFileSync(join(root, 'old.cjs'), 'delete process.execve;');
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  });

  after(() => {
    rmSync(root, { recursive: true, force: true });
  });

  for (const [way, nodeOf] of Object.entries(ways)) {
    describe(way, () => {
      const run = (...args: string[]) => {
        const [command = '', ...options] = nodeOf(root);
        return spawnSync(command, [...options, join(root, 'dev/boxgate.cjs'), ...args], { encoding: 'utf8' });
      };

      it('passes the arguments on as they are', () => {
        const answer = run('echo', 'two words', '--port=0', '');
        expect(answer.stderr).to.equal('');
        expect(JSON.parse(answer.stdout)).to.deep.include({
          args: ['echo', 'two words', '--port=0', ''],
          program: join(root, 'dev/main.ts'),
        });
      });

      it('ends with the exit code of the program', () => {
        expect(run('fail').status).to.equal(7);
        expect(run('other').status).to.equal(0);
      });

      it('dies of the signal that the program dies of', () => {
        expect(run('die').signal).to.equal('SIGKILL');
      });

      it('passes a signal on, so that the program can stop gracefully', async () => {
        const { launcher, output } = await serve(nodeOf(root), root);
        launcher.kill('SIGTERM');
        expect(await once(launcher, 'close')).to.deep.equal([0, null]);
        expect(output()).to.contain('stopping');
      });

      it('leaves no program behind when it is killed', async () => {
        const { launcher } = await serve(nodeOf(root), root);
        launcher.kill('SIGKILL');
        // The program holds the other end of this output: it closes when the program is gone too.
        expect(await once(launcher, 'close')).to.deep.equal([null, 'SIGKILL']);
      });
    });
  }

  it('says what to do where the dependencies are not installed', () => {
    const bare = mkdtempSync(join(tmpdir(), 'boxgate-bare-'));
    copyLauncher(bare);
    const answer = spawnSync(process.execPath, [join(bare, 'dev/boxgate.cjs'), 'dev'], { encoding: 'utf8' });
    rmSync(bare, { recursive: true });
    expect(answer.status).to.equal(1);
    expect(answer.stderr).to.match(/^boxgate: its Node\.js is not installed\. Run `npm ci` in \S+ first\.\n$/);
  });
});

/** Copies what a checkout has of the command, besides its program, into a folder. */
function copyLauncher(folder: string): void {
  for (const file of ['dev/boxgate.cjs', 'program/launcher.cjs']) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    copyFileSync(file, join(folder, file));
  }
}

/** Starts the launcher with a program that goes on until it is told to stop; resolves when it does. */
async function serve([command = '', ...options]: string[], root: string) {
  const launcher = spawn(command, [...options, join(root, 'dev/boxgate.cjs'), 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  launcher.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  while (!text.includes('serving')) await once(launcher.stdout, 'data');
  return { launcher, output: () => text };
}
