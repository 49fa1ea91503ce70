import { expect } from 'chai';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findChromium } from './chromium.ts';

describe('the Chromium of a machine', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-chromium-'));
  const program = path.join(folder, 'chromium');
  // Any program will do: none is started.
  before(() => symlinkSync(process.execPath, program));
  after(() => rmSync(folder, { recursive: true }));

  it('is the one that CHROMIUM_PATH says, else the first on the PATH', () => {
    expect(findChromium({ PATH: `/nowhere:${folder}` })).to.equal(program);
    expect(findChromium({ PATH: folder, CHROMIUM_PATH: process.execPath })).to.equal(process.execPath);
  });

  it('is asked for where there is none', () => {
    for (const environment of [{ PATH: '/nowhere' }, { PATH: folder, CHROMIUM_PATH: '/nowhere/chromium' }]) {
      expect(() => findChromium(environment)).to.throw('install the package chromium-headless-shell');
    }
  });
});
