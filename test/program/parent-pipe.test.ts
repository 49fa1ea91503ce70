import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { onParentGone } from '../../program/signals.ts';

/** Says when it watches, and ends only when its parent is gone. */
const watcher = `
import { onParentGone } from './program/signals.ts';
const open = setInterval(() => undefined, 1000);
onParentGone(3, () => clearInterval(open));
process.stdout.write('watching');
`;

/** Starts the watcher, which holds the same output, and waits to be killed. */
const parent = `
import { spawn } from 'node:child_process';
const stdio = ['ignore', 'inherit', 'inherit', 'pipe'];
spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(watcher)}], { stdio, detached: true });
`;

describe('a parent that is gone', () => {
  it('is noticed, however hard it was killed', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', parent], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    // The output ends when nobody holds it any more, the watcher included.
    child.stdout.resume();
    await once(child.stdout, 'end');
    expect(child.signalCode ?? (await once(child, 'exit'))[1]).to.equal('SIGKILL');
  });

  it('cannot be watched over what is no pipe: one sentence', () => {
    const file = openSync('package.json', 'r');
    try {
      for (const descriptor of [file, 999]) {
        expect(() => {
          onParentGone(descriptor, () => undefined);
        }).to.throw(Error, /^Descriptor \d+ \(BOXGATE_PARENT_PIPE\) is no pipe that a parent opened$/);
      }
    } finally {
      closeSync(file);
    }
  });
});
