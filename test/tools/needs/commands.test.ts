import { expect } from 'chai';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  chromium,
  findCommand,
  neededCommands,
  obtainCommands,
  obtainHeadlessShell,
} from '../../../tools/needs/commands.ts';
import type { Installer } from '../../../tools/needs/commands.ts';

describe('the commands that tests run', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-commands-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function put(...names: readonly string[]): void {
    for (const name of names) {
      writeFileSync(path.join(folder, name), '');
      chmodSync(path.join(folder, name), 0o755);
    }
  }

  /** An installer of packages that puts the command of each on the PATH, unless it fails. */
  function installer(isAllowed: boolean, failure?: string): Installer & { readonly installed: string[] } {
    const installed: string[] = [];
    return {
      installed,
      isAllowed,
      install(packages) {
        if (failure !== undefined) return Promise.reject(new Error(failure));
        installed.push(...packages);
        put(...packages);
        return Promise.resolve();
      },
    };
  }

  async function obtained(by: Installer, more: Readonly<Record<string, string>> = {}) {
    const told: string[] = [];
    const failure = await obtainCommands({ PATH: folder, ...more }, (line) => told.push(line), by).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
    );
    return { told, failure };
  }

  it('R-39: are left alone where they are there', async () => {
    put('google-chrome', 'git', 'javac', 'openssl', 'python3', 'tar');
    const by = installer(true);
    expect(await obtained(by)).to.deep.equal({ told: [], failure: undefined });
    expect(by.installed).to.deep.equal([]);
  });

  it('R-39: are installed by root where they are missing, which is told with the time that it takes', async () => {
    put('git', 'javac', 'python3', 'tar');
    const by = installer(true);
    const { told, failure } = await obtained(by);
    expect([failure, by.installed]).to.deep.equal([undefined, ['chromium-headless-shell', 'openssl']]);
    expect(told).to.deep.equal(['installing chromium-headless-shell, openssl from Debian (100 MB, about a minute)']);
    put('chromium', 'openssl');
    rmSync(path.join(folder, 'git'));
    expect((await obtained(by)).told).to.deep.equal(['installing git from Debian (some seconds)']);
  });

  it('R-39: are asked for in one sentence of somebody who is not root', async () => {
    put('git', 'javac', 'python3', 'tar');
    const by = installer(false);
    expect(await obtained(by)).to.deep.equal({
      told: [],
      failure:
        'Chromium, openssl not found: run sudo apt-get update && sudo apt-get install --no-install-recommends chromium-headless-shell openssl, or name a Chromium with CHROMIUM_PATH',
    });
    expect(by.installed).to.deep.equal([]);
  });

  it('R-39: are asked for with the reason where the package cannot be had', async () => {
    put('chromium', 'git', 'javac', 'python3', 'tar');
    const { failure } = await obtained(installer(true, 'apt-get update ended with 100'));
    expect(failure).to.equal(
      'openssl not found (apt-get update ended with 100): run sudo apt-get update && sudo apt-get install --no-install-recommends openssl',
    );
  });

  it('R-39: are the ones that a variable names, which is not corrected', async () => {
    put('git', 'javac', 'openssl', 'python3', 'tar', 'mine');
    expect(await obtained(installer(false), { CHROMIUM_PATH: path.join(folder, 'mine') })).to.include({
      failure: undefined,
    });
    const { failure } = await obtained(installer(true), { CHROMIUM_PATH: '/nowhere/chromium' });
    expect(failure).to.equal('CHROMIUM_PATH names no program: /nowhere/chromium');
  });

  it('R-39: take Chromium by its own name before any other that is built from it, but for the one without windows', () => {
    put('google-chrome', 'chromium');
    expect(findCommand(chromium, { PATH: folder })).to.equal(path.join(folder, 'chromium'));
    put('chromium-headless-shell');
    expect(findCommand(chromium, { PATH: folder })).to.equal(path.join(folder, 'chromium-headless-shell'));
    expect(neededCommands).to.include(chromium);
  });

  it('R-39: are quicker with the Chromium without windows, which is installed where that is possible', async () => {
    const told: string[] = [];
    const obtain = (by: Installer): Promise<void> =>
      obtainHeadlessShell({ PATH: folder }, (line) => told.push(line), by);
    put('chromium');
    await obtain(installer(false));
    expect(told).to.deep.equal([]);
    await obtain(installer(true, 'apt-get update ended with 100'));
    expect(told.pop()).to.equal('chromium-headless-shell cannot be had: apt-get update ended with 100');
    const by = installer(true);
    await obtain(by);
    await obtain(by);
    expect(by.installed).to.deep.equal(['chromium-headless-shell']);
  });
});
