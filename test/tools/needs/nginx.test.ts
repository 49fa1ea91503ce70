import { expect } from 'chai';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findNginx, obtainNginx } from '../../../tools/needs/nginx.ts';

describe('the nginx of the tests', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-needs-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function program(...parts: readonly string[]): string {
    const file = path.join(folder, ...parts);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    return file;
  }

  it('is the one that NGINX_PATH names, and no other', () => {
    const onPath = program('nginx');
    const named = program('own', 'nginx');
    expect(findNginx({ PATH: folder, NGINX_PATH: named })).to.equal(named);
    expect(findNginx({ PATH: folder, NGINX_PATH: '/nowhere/nginx' })).to.equal(undefined);
    expect(findNginx({ PATH: folder })).to.equal(onPath);
  });

  it('is left alone where it is there', async () => {
    const told: string[] = [];
    await obtainNginx({ PATH: folder, NGINX_PATH: program('nginx') }, (line) => told.push(line));
    expect(told).to.deep.equal([]);
  });
});
