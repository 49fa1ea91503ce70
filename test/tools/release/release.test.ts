import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;

describe('make release', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-release-'));
    for (const name of ['package.json', 'package-lock.json']) cpSync(path.join(root, name), path.join(folder, name));
    writeFileSync(path.join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n### Added\n- A thing.\n');
    git('init', '--quiet', '--initial-branch', 'main');
    git('config', 'user.name', 'A Maintainer');
    git('config', 'user.email', 'maintainer@boxgate.test');
    commit('first');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const git = (...parameters: readonly string[]): string =>
    execFileSync('git', [...parameters], { cwd: folder, encoding: 'utf8' });
  const commit = (message: string): void => {
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  };
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');

  function release(version: string): { readonly status: number | null; readonly out: string; readonly error: string } {
    const program = path.join(root, 'tools/release/main.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, version], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, out: stdout, error: stderr };
  }

  it('sets the version, dates the changes, commits and tags', () => {
    const lockBefore = read('package-lock.json');
    const { status, out } = release('7.4.0');
    expect(status).to.equal(0);
    expect(out).to.equal('committed and tagged v7.4.0. Publish it: git push --follow-tags\n');
    expect(JSON.parse(read('package.json'))).to.have.property('version', '7.4.0');
    const lock: unknown = JSON.parse(read('package-lock.json'));
    expect(lock).to.have.property('version', '7.4.0');
    expect(Reflect.get(Object(Reflect.get(Object(lock), 'packages')), '')).to.have.property('version', '7.4.0');
    const differing = read('package-lock.json')
      .split('\n')
      .filter((line, nth) => line !== lockBefore.split('\n')[nth]);
    expect(differing, 'the versions of dependencies stay').to.have.length(2);
    const day = new Date().toISOString().slice(0, 4);
    expect(read('CHANGELOG.md')).to.match(
      new RegExp(
        `^# Changelog\\n\\n## Unreleased\\n\\n## 7\\.4\\.0 \\(${day}-\\d\\d-\\d\\d\\)\\n\\n### Added\\n- A thing\\.\\n$`,
      ),
    );
    expect(git('log', '-1', '--format=%s')).to.equal('release: 7.4.0\n');
    expect(git('describe', '--exact-match')).to.equal('v7.4.0\n');
    expect(git('status', '--porcelain')).to.equal('');
  });

  it('may first release the version that package.json begins with, once', () => {
    const version: unknown = Reflect.get(Object(JSON.parse(read('package.json'))), 'version');
    expect(release(String(version)).status).to.equal(0);
    writeFileSync(
      path.join(folder, 'CHANGELOG.md'),
      read('CHANGELOG.md').replace('Unreleased\n', 'Unreleased\n\n- More.\n'),
    );
    commit('more');
    expect(release(String(version)).error).to.match(/^release: VERSION must be newer than /);
  });

  const refused: readonly (readonly [string, string, (() => void) | undefined, RegExp])[] = [
    ['no version', '', undefined, /^release: VERSION must be three numbers such as 1\.4\.0, not ""/],
    [
      'a version with a v',
      'v7.4.0',
      undefined,
      /^release: VERSION must be three numbers such as 1\.4\.0, not "v7\.4\.0"/,
    ],
    [
      'an older version',
      '0.0.9',
      undefined,
      /^release: VERSION must be newer than \d+\.\d+\.\d+, the version in package\.json, and is 0\.0\.9\n/,
    ],
    [
      'changes that are not committed',
      '7.4.0',
      () => {
        writeFileSync(path.join(folder, 'new.txt'), 'new');
      },
      /^release: commit or stash your changes first:\n\?\? new\.txt\n/,
    ],
    [
      'a changelog without changes',
      '7.4.0',
      () => {
        writeFileSync(
          path.join(folder, 'CHANGELOG.md'),
          '# Changelog\n\n## Unreleased\n\n### Added\n\n## 0.1.0 (2026-01-01)\n- Old.\n',
        );
        commit('empty');
      },
      /^release: CHANGELOG\.md names no change under "## Unreleased": write what changes for users first\n/,
    ],
    [
      'a version that is tagged',
      '7.4.0',
      () => {
        git('tag', 'v7.4.0');
      },
      /^release: the tag v7\.4\.0 exists: choose another version\n/,
    ],
  ];
  for (const [title, version, prepare, message] of refused) {
    it(`refuses ${title}, and changes nothing`, () => {
      prepare?.();
      const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')];
      const { status, out, error } = release(version);
      expect(error).to.match(message);
      expect(out).to.equal('');
      expect(status).to.equal(1);
      expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).to.deep.equal(before);
    });
  }
});
