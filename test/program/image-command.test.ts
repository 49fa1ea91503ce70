import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const dockerfile = readFileSync('Dockerfile', 'utf8');

describe('the command boxgate in the image', () => {
  let app: string;

  before(() => {
    app = path.join(mkdtempSync(path.join(tmpdir(), 'boxgate-command-')), 'app');
    mkdirSync(path.join(app, 'dev'), { recursive: true });
    writeFileSync(path.join(app, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(app, 'dev/main.js'), 'console.log(JSON.stringify(process.argv.slice(2)));');
    const [, writing = ''] = /^RUN (mkdir \/app\/bin [^]*?[^\\])$/m.exec(dockerfile) ?? [];
    execFileSync('sh', ['-euc', writing.replaceAll('/app', app)]);
  });
  after(() => rmSync(path.dirname(app), { recursive: true }));

  it('is found by its name, and starts the program with its arguments, without a shell or another program', () => {
    const [command, environment] = ['boxgate', { PATH: path.join(app, 'bin') }] as const;
    const { stdout, stderr } = spawnSync(command, ['admin', 'reset'], {
      cwd: '/',
      env: environment,
      encoding: 'utf8',
    });
    expect(stdout, stderr).to.equal('["admin","reset"]\n');
    expect(dockerfile).to.match(/^ENV PATH="\/app\/bin:\$\{PATH\}"$/m);
  });

  it('may be started by any user, and changed by none but the one that built it', () => {
    expect(statSync(path.join(app, 'bin/boxgate')).mode & 0o777).to.equal(0o755);
  });
});
