import { isObject, parseJson } from '../../crds/path.ts';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../support/eventually.ts';
import { asOwner, freshDatabase, superuserUrl } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { familyOf, isRunning } from '../support/processes.ts';
import { runBoxgate, startBoxgate } from './boxgate-process.ts';
import { getStatus } from './box-requests.ts';
import { writeCurlStandIn } from './curl-stand-in.ts';
import { anyPorts, startDev, urlsOf } from './dev-process.ts';
import { clientYaml, policyYaml, secretYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

describe('what boxgate dev prints', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;

  beforeEach(async () => {
    folder = temporaryFolder();
    database = await freshDatabase();
    mkdirSync(folder.path('bin'));
    writeCurlStandIn(folder.path('bin/curl'));
  });
  afterEach(async () => {
    folder.remove();
    await database.drop();
  });

  /** The token that a pasted command line answers with, in the folder in which the tests run. */
  function pasted(command: string, typed = ''): string {
    const environment = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${folder.path('bin')}` };
    const answer = parseJson(
      // In a session without a terminal curl reads a password from its standard input.
      execFileSync('setsid', ['-w', 'bash', '-c', command], {
        encoding: 'utf8',
        env: environment,
        input: typed,
        stdio: 'pipe',
      }),
    );
    return isObject(answer) ? String(answer['access_token']) : '';
  }

  const boxes: readonly (readonly [what: string, more: string, address: string])[] = [
    // E-33: the address of the only box was the root, which is 404 as soon as there is another one.
    ['the only box', '', '/boxes/default/auth/token'],
    ['one of two boxes', clientYaml('other', '', 'other'), '/boxes/default/auth/token'],
  ];
  for (const [what, more, address] of boxes) {
    it(`a curl for a token of ${what}, which works when it is pasted, and no secret anywhere`, async () => {
      const inside = "it's mine/manifests";
      const chosen = clientYaml('chosen', '  secret: canary-of-a-secret\n');
      folder.write(`${inside}/a.yaml`, `${clientYaml('generated')}---\n${policyYaml('generated')}---\n${chosen}`);
      folder.write(`${inside}/b.yaml`, more);
      const dev = await startDev(folder.path(inside), urlsOf(database));
      const [, command = ''] = await dev.boxgate.said(
        /^A token for generated:\n\n {2}(curl .+)\n\nA token for chosen:/m,
      );
      expect(command).to.include(`${dev.url}${address} `);
      const token = pasted(command);
      expect(await getStatus(`${dev.url}/boxes/default`, '/Session', token)).to.equal(200);

      const family = familyOf(dev.boxgate.pid);
      expect(await dev.boxgate.end('SIGTERM')).to.equal(0);
      expect(family.filter(isRunning)).to.deep.equal([]);

      const state = folder.path(inside, '.boxgate');
      const kept = path.join(state, 'secrets/default/generated.json');
      expect(statSync(kept).mode & 0o777).to.equal(0o600);
      const secrets = ['canary-of-a-secret', token, ...secretsIn(kept), ...secretsIn(path.join(state, 'keys.json'))];
      expect(secrets.length).to.be.greaterThan(6);
      const logs = readdirSync(state).filter((name) => name.includes('.log'));
      expect(logs).to.include('api.log');
      const printed = [
        dev.boxgate.stdout,
        dev.boxgate.stderr,
        ...logs.map((log) => readFileSync(path.join(state, log), 'utf8')),
      ];
      expect(secrets.filter((secret) => printed.some((text) => text.includes(secret)))).to.deep.equal([]);
      expect(dev.boxgate.stdout.match(/^ready .*$/gm)).to.deep.equal([`ready ${dev.url}`]);
    });
  }

  const chosen: readonly (readonly [what: string, yaml: string, place: string])[] = [
    ['in the client', clientYaml('chosen', '  secret: canary-of-a-secret\n'), ':7'],
    [
      'in a Secret',
      `${clientYaml('chosen', '  secretRef: { name: kept, key: client_secret }\n')}---\n${secretYaml('kept', 'canary-of-a-secret')}`,
      ':9 (Secret kept)',
    ],
  ];
  for (const [what, yaml, place] of chosen) {
    it(`R-46 a curl for a chosen secret ${what}, which asks for it, and the place of the secret`, async () => {
      folder.write('manifests/a.yaml', yaml);
      const dev = await startDev(folder.path('manifests'), urlsOf(database));
      const hint =
        /^A token for chosen:\n\n {2}(curl .+)\n\ncurl asks for the secret; it is in (\S*a\.yaml)(:.*)\.\n\nThe console of the box default: \S+\nready /m;
      const [, command = '', file = '', rest] = await dev.boxgate.said(hint);
      expect([path.resolve(file), rest]).to.deep.equal([folder.path('manifests/a.yaml'), place]);
      expect(pasted(command, 'canary-of-a-secret\n')).to.match(/^bgt_/);
      await dev.boxgate.end();
      expect(dev.boxgate.stdout + dev.boxgate.stderr).not.to.contain('canary-of-a-secret');
    });
  }

  it('R-46 the file of a generated secret is named when it is created, at the start and later, and not again', async () => {
    folder.write('manifests/a.yaml', clientYaml('first'));
    const start = () => startDev(folder.path('manifests'), urlsOf(database));
    const named = (text: string) =>
      [...text.matchAll(/^The generated secret of Client default\/(\S+) is in (.*)$/gm)].map(
        ([, client, file = '']) => [client, path.resolve(file)],
      );
    const fileOf = (client: string): string => folder.path(`manifests/.boxgate/secrets/default/${client}.json`);
    const dev = await start();
    expect(named(dev.boxgate.stdout)).to.deep.equal([['first', fileOf('first')]]);
    folder.write('manifests/b.yaml', clientYaml('second'));
    await dev.boxgate.said(/^default +client\.boxgate\.dev\/second .* True/m);
    expect(named(dev.boxgate.stdout)).to.deep.equal(['first', 'second'].map((one) => [one, fileOf(one)]));
    await dev.boxgate.end();
    const again = await start();
    await again.boxgate.end();
    expect(named(again.boxgate.stdout)).to.deep.equal([]);
  });

  /** Returns the secrets in a file of the state folder. */
  function secretsIn(file: string): readonly string[] {
    const value = parseJson(readFileSync(file, 'utf8'));
    return Object.entries(isObject(value) ? value : {})
      .filter(([name]) => name === 'client_secret' || file.endsWith('keys.json'))
      .map(([, secret]) => String(secret));
  }

  it('with --once: statuses as kubectl get prints them, with reasons, and 1 since not everything is Ready', async () => {
    folder.write('a.yaml', `${clientYaml('granted')}---\n${policyYaml('granted')}`);
    folder.write('b.yaml', clientYaml('ungranted'));
    folder.write('c.yaml', clientYaml('waiting', '  secretRef: { name: nowhere, key: client_secret }\n'));
    folder.write('d.yaml', clientYaml('faulty').replace('[client_credentials]', 'client_credentials'));
    folder.write('e.yaml', policyYaml('dangling', 'nobody'));
    const once = ['dev', folder.root, ...anyPorts, '--once', ...urlsOf(database)];
    const { code, stdout, stderr } = await runBoxgate(once);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    const rows = stdout.split('\n').map((line) => line.replace(/ {2,}/g, ' | '));
    for (const row of [
      'NAMESPACE | NAME | ID | GRANTS | SECRET | POLICIES | READY | REASON',
      'default | client.boxgate.dev/granted | granted | client_credentials | generated | 1 | True | Ready',
      'default | client.boxgate.dev/ungranted | ungranted | client_credentials | generated | 0 | True | Ready',
      'NAMESPACE | NAME | ENGINE | SUBJECTS | READY | REASON',
      'default | accesspolicy.boxgate.dev/granted | allow | 1 | True | Ready',
    ]) {
      expect(rows).to.include(row);
    }
    expect(stdout).to.match(/client\.boxgate\.dev\/waiting .* False +SecretNotFound\n/);
    expect(stdout).to.match(/client\.boxgate\.dev\/faulty .* False +Invalid\n/);
    expect(stdout).to.match(/accesspolicy\.boxgate\.dev\/dangling .* True +\w+\n/);
    expect(stdout).to.match(
      / {2}\S*b\.yaml:1: no declared AccessPolicy concerns this client: .*\. If it should call them, apply/,
    );
    expect(stdout).to.match(/ {2}\S*c\.yaml:1: .*nowhere/);
    expect(stdout).to.match(/ {2}\S*d\.yaml:6: spec\.grant_types /);
    expect(stdout).not.to.match(/^ready /m);
  });

  it('with --once: 0 when everything is Ready, 1 when a file cannot be read', async () => {
    const name = new URL(database.ownerUrl).pathname.slice(1);
    const once = ['dev', folder.root, ...anyPorts, '--once', '--database-url', superuserUrl(name)];
    folder.write('a.yaml', clientYaml('client'));
    expect((await runBoxgate(once)).code).to.equal(0);
    const role = await asOwner(name, (owner) =>
      owner.query('SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = $1', [`boxgate_api_${name}`]),
    );
    expect(role.rows, 'the role that dev made for the API').to.deep.equal([{ rolsuper: false, rolbypassrls: false }]);
    folder.write('b.yaml', 'kind: [\n');
    const { code, stderr } = await runBoxgate(once);
    expect(code).to.equal(1);
    expect(stderr).to.match(/b\.yaml:\d: cannot be read: /);
  });

  it('on a terminal: how far long work is, and ^C ends it with all its processes', async () => {
    const clients = Array.from({ length: 60 }, (_, index) =>
      clientYaml(`client-${String(index)}`, `  secret: chosen-${String(index)}\n`),
    );
    folder.write('many.yaml', clients.join('---\n'));
    const words = ['./boxgate', 'dev', folder.root, ...anyPorts, ...urlsOf(database)];
    // In the place of the shell: some shells stay between, and ^C ends them first.
    const command = `exec ${words.map((word) => `'${word}'`).join(' ')}`;
    // util-linux's script: a terminal of its own for the command, and the command's exit code.
    const terminal = startBoxgate([], { command: ['script', '-qefc', command, '/dev/null'] });
    await terminal.said(/^ready http/m);
    expect(terminal.stdout).to.match(/\rdefault: hashing secrets: \d+ of 60/);
    const family = familyOf(terminal.pid);
    expect(family.length).to.be.greaterThan(2);
    terminal.type('\u0003');
    expect(await terminal.ended).to.equal(0);
    await eventually('nothing of it is left', () => !family.some(isRunning));
  });
});
