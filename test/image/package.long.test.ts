import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isList, isObject, parseJson } from '../../crds/path.ts';

describe('the npm package in an empty folder', () => {
  it('runs boxgate and boxctl under the Node.js of the machine', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-package-'));
    try {
      const options = { encoding: 'utf8', stdio: 'pipe' } as const;
      const told = parseJson(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], options));
      const [packed] = isList(told) ? told : [];
      const file = path.join(folder, String(isObject(packed) && packed['filename']));
      writeFileSync(path.join(folder, 'package.json'), '{}');
      execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', file], {
        ...options,
        cwd: folder,
      });
      const env = { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder };
      const run = (command: string, ...args: readonly string[]) =>
        execFileSync(path.join(folder, 'node_modules/.bin', command), args, { ...options, cwd: '/', env });
      expect(run('boxgate', '--help')).to.match(/^Usage: boxgate dev <folder> /);
      expect(run('boxctl', '--help')).to.match(/^boxctl: users and settings of a Boxgate box\n/);
      expect(run('boxgate', 'version')).to.match(/^boxgate \d/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
