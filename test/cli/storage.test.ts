import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { startBoxctl, type Boxctl } from './boxctl.ts';

/** A command line that a shell ran: its exit code and standard error. */
interface Ended {
  readonly code: number | string | null | undefined;
  readonly messages: string;
}

function shell(line: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', line], (_error, _output, messages) =>
      resolve({ code: child.exitCode, messages }),
    );
  });
}

describe('boxctl whose files or output cannot be written', () => {
  let boxctl: Boxctl;

  beforeEach(async () => {
    boxctl = await startBoxctl({ BOXCTL_SERVER: 'http://127.0.0.1:1' });
  });
  afterEach(() => boxctl.remove());

  const use = ['box', 'use', 'default', '--server', 'http://127.0.0.1:1'] as const;
  const refused = (file: string, doing: string, reason: string): object => ({
    code: 3,
    output: '',
    messages: `boxctl: ${file} cannot be ${doing}: ${reason}\n`,
  });

  it('names the state file and the reason if its folder is none', async () => {
    expect(await boxctl.run(use, { XDG_CONFIG_HOME: '/dev/null' })).to.deep.equal(
      refused('/dev/null/boxctl/state.json', 'written', 'a part of its path is no folder'),
    );
    mkdirSync(path.join(boxctl.home, '.config'));
    writeFileSync(path.join(boxctl.home, '.config', 'boxctl'), '');
    const file = path.join(boxctl.home, '.config', 'boxctl', 'state.json');
    expect(await boxctl.run(use)).to.deep.equal(refused(file, 'written', 'a part of its path is no folder'));
  });

  it('names the state file if it is a folder', async () => {
    const file = path.join(boxctl.home, '.config', 'boxctl', 'state.json');
    mkdirSync(file, { recursive: true });
    expect(await boxctl.run(use)).to.deep.equal(refused(file, 'read', 'it is a folder'));
  });

  it('says that the output cannot be written, and is quiet about a pipe that nobody reads on', async () => {
    const command = './boxctl completion bash';
    expect(await shell(`${command} > /dev/full`)).to.deep.equal({
      code: 3,
      messages: 'boxctl: the output cannot be written: its file system is full\n',
    });
    expect(await shell(`${command} | true`)).to.deep.equal({ code: 0, messages: '' });
  });
});
