import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { adminSecret, startBoxApi, type BoxApi } from '../http/resources/box-api.ts';
import { shellBlocks } from '../operator/shell-page.ts';
import { startBoxctl, type Boxctl } from './boxctl.ts';

const run = promisify(execFile);

describe('docs/boxctl.md', () => {
  let api: BoxApi;
  let boxctl: Boxctl;

  before(async () => {
    api = await startBoxApi();
    boxctl = await startBoxctl({});
  });
  after(async () => {
    await boxctl.remove();
    await api.stop();
  });

  it('its commands work as they are pasted', async () => {
    const [block, ...others] = shellBlocks(readFileSync('docs/boxctl.md', 'utf8'));
    expect(others).to.deep.equal([]);
    const commands = (block?.commands ?? '').replaceAll('http://127.0.0.1:8080', api.url);
    const { stdout } = await run('sh', ['-ec', commands], {
      env: { PATH: process.env['PATH'], HOME: boxctl.home, ADMIN_SECRET: adminSecret },
    });
    expect(stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).to.deep.equal([
      'Created user ann@example.com (id 1) in the box default.',
      'ID EMAIL STATUS GROUPS',
      '1 ann@example.com active',
      'User ann@example.com (id 1) in the box default is inactive.',
      '',
    ]);
  });
});
