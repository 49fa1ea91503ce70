import { expect } from 'chai';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPython, obtainPython } from '../../../tools/needs/python.ts';

describe('the Python of the programs on the pages', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'boxgate-python-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  /** Makes a folder with a python3 that exits with a code: 0 if it has the modules. */
  function python(folder: string, code: number): string {
    mkdirSync(path.join(root, folder));
    const file = path.join(root, folder, 'python3');
    writeFileSync(file, `#!/bin/sh\nexit ${String(code)}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  it('R-39: is the first one that has PyJWT and cryptography', () => {
    python('without', 1);
    const found = python('with', 0);
    python('later', 0);
    const folders = ['without', 'nowhere', 'with', 'later'].map((folder) => path.join(root, folder));
    expect(findPython({ PATH: folders.join(path.delimiter) })).to.equal(found);
  });

  it('R-39: is left alone where it has the modules', async () => {
    python('with', 0);
    const told: string[] = [];
    const installer = { isAllowed: true, install: () => Promise.reject(new Error('installs nothing')) };
    await obtainPython({ PATH: path.join(root, 'with') }, (line) => told.push(line), installer);
    expect(told).to.deep.equal([]);
  });
});
