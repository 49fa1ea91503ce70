import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { releaseVersion } from '../../../program/version.ts';
import { buildSingleFile } from '../../../tools/boxctl/build-single-file.ts';
import { startBoxApi, type BoxApi } from '../../http/resources/box-api.ts';

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
}

describe('boxctl as a single file', () => {
  let folder = '';
  let api: BoxApi;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'boxctl-single-'));
    await buildSingleFile(path.join(folder, 'boxctl'));
    await symlink('boxctl', path.join(folder, 'kubectl-boxgate'));
    api = await startBoxApi();
  });
  after(async () => {
    await api.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs it where there is nothing else: an empty PATH, and the folder of the file. */
  function run(name: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const env = { PATH: '', HOME: folder, BOXCTL_SERVER: api.url, BOXCTL_BOX: 'default', ...more };
    return new Promise((resolve) => {
      const child = execFile(path.join(folder, name), [...args], { env, cwd: folder }, (error, output, messages) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), output, messages });
      });
      child.stdin?.end();
    });
  }

  it('needs no Node.js: it knows its version, and explains itself', async () => {
    expect(await run('boxctl', ['version'])).to.deep.equal({
      code: 0,
      output: `boxctl ${releaseVersion()}\n`,
      messages: '',
    });
    const { code, output } = await run('boxctl', ['user', 'new', '--help']);
    expect([code, output.includes('Usage: boxctl user new')]).to.deep.equal([0, true]);
  });

  it('calls a box, in each form of output', async () => {
    const credential = { BOXCTL_TOKEN: api.adminToken };
    const created = await run('boxctl', ['user', 'new', 'ann@example.com:correct horse'], credential);
    expect(created.output).to.equal('Created user ann@example.com (id 1) in the box default.\n');
    const { output } = await run('boxctl', ['user', 'list', '--output', 'yaml'], credential);
    expect(output).to.contain('email: ann@example.com');
  });

  it('has the exit codes of boxctl', async () => {
    expect((await run('boxctl', ['usr'])).code).to.equal(2);
    expect((await run('boxctl', ['user', 'list'], { BOXCTL_TOKEN: 'bgt_unknown' })).code).to.equal(1);
    expect((await run('boxctl', ['box', 'status'], { BOXCTL_SERVER: 'http://127.0.0.1:1' })).code).to.equal(3);
  });

  it('is the plugin of kubectl under the name kubectl-boxgate, and says that kubectl is missing', async () => {
    const { code, messages } = await run('kubectl-boxgate', ['user', 'list'], { BOXCTL_SERVER: '' });
    expect([code, messages]).to.deep.equal([3, 'boxctl: there is no kubectl in the PATH\n']);
  });
});
