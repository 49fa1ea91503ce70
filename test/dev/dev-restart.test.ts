import { isObject, parseJson } from '../../crds/path.ts';
import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import { ownPort } from '../support/own-port.ts';
import { familyOf, isRunning, signalAll } from '../support/processes.ts';
import { runBoxgate } from './boxgate-process.ts';
import { askToken, getStatus, isActive, tokenOf } from './box-requests.ts';
import { anyPorts, startDev } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { clientYaml, policyYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

// One embedded Postgres through several lives of `boxgate dev` on one state folder, in the order of the tests.
describe('boxgate dev, killed and started again', () => {
  let folder: TemporaryFolder;
  let dev: DevProcess;
  /** Credentials that the first run issued. */
  const given = { secret: '', opaque: '', jwt: '' };

  before(async () => {
    folder = temporaryFolder();
    folder.write('generated.yaml', `${clientYaml('generated')}---\n${policyYaml('generated')}`);
    const jwt = '  secret: a-chosen-secret\n  auth: { client_credentials: { token_format: jwt } }\n';
    folder.write('chosen.yaml', clientYaml('chosen', jwt));
    folder.write('bystander.yaml', clientYaml('bystander', '  secret: a-secret\n'));
    dev = await startDev(folder.root, ['--port', String(await ownPort())]);
    given.secret = readSecret();
    given.opaque = await tokenOf(dev.url, 'generated', given.secret);
    given.jwt = await tokenOf(dev.url, 'chosen', 'a-chosen-secret');
  });
  after(async () => {
    if (!dev.boxgate.isOver) signalAll([...familyOf(dev.boxgate.pid), postgres()], 'SIGKILL');
    await dev.boxgate.ended;
    folder.remove();
  });

  function readSecret(): string {
    const kept = parseJson(readFileSync(folder.path('.boxgate/secrets/default/generated.json'), 'utf8'));
    return isObject(kept) ? String(kept['client_secret']) : '';
  }

  /** The process id that the server on the data has noted. */
  function postgres(): number {
    const pid = Number(readFileSync(folder.path('.boxgate/data/postmaster.pid'), 'utf8').split('\n')[0]);
    if (pid > 0) return pid;
    throw new Error('no server is noted');
  }

  /** On the same port, as one would at a terminal: the tokens name it. */
  async function startAgain(): Promise<void> {
    dev = await startDev(folder.root, ['--port', new URL(dev.url).port]);
  }

  async function everythingIsThere(): Promise<void> {
    expect(readSecret(), 'the generated secret').to.equal(given.secret);
    expect(await getStatus(dev.url, '/Session', given.opaque), 'an opaque token').to.equal(200);
    expect(await isActive(dev.url, given.jwt, 'generated', given.secret), 'a JWT').to.equal(true);
    expect((await askToken(dev.url, 'generated', given.secret)).status).to.equal(200);
    expect((await askToken(dev.url, 'chosen', 'a-chosen-secret')).status).to.equal(200);
  }

  it('keeps its state in .boxgate in the folder, where git passes over it and nobody else reads the secrets', () => {
    expect(readFileSync(folder.path('.boxgate/.gitignore'), 'utf8')).to.equal('*\n');
    expect(statSync(folder.path('.boxgate/secrets')).mode & 0o777).to.equal(0o700);
    expect(statSync(folder.path('.boxgate/data')).mode & 0o777).to.equal(0o700);
    for (const file of ['keys.json', 'api.log', 'postgres.log', 'secrets/default/generated.json']) {
      expect(statSync(folder.path('.boxgate', file)).mode & 0o777, file).to.equal(0o600);
    }
  });

  it('is one at a time on a state folder: the second one says so and ends with 1', async () => {
    const second = await runBoxgate(['dev', folder.root, ...anyPorts]);
    const sentence = `Another boxgate dev (process ${String(dev.boxgate.pid)}) uses the state folder`;
    expect(second).to.deep.equal({ code: 1, stdout: '', stderr: `boxgate: ${sentence} ${folder.path('.boxgate')}\n` });
    await everythingIsThere();
  });

  it('killed alone, it leaves a Postgres that the next one takes over, and an API that ends', async () => {
    const server = postgres();
    const others = familyOf(dev.boxgate.pid).filter((pid) => pid !== server && !familyOf(server).includes(pid));
    expect(others, 'itself and the API').to.have.length(2);
    await dev.boxgate.end('SIGKILL');
    expect(isRunning(server), 'the Postgres').to.equal(true);
    await startAgain();
    await eventually('what was there before has ended', () => !others.some(isRunning));
    expect(postgres()).to.equal(server);
    await everythingIsThere();
  });

  it('a Postgres that dies is started again', async () => {
    const server = postgres();
    process.kill(server, 'SIGKILL');
    await dev.boxgate.said(/^Postgres is back\.$/m);
    expect(postgres()).not.to.equal(server);
    await eventually('all is there', () => everythingIsThere().then(() => true));
  });

  it('killed with all its processes, nothing is lost; a file that cannot be read prunes nothing', async () => {
    const family = [...familyOf(dev.boxgate.pid), ...familyOf(postgres())];
    signalAll(family, 'SIGKILL');
    await dev.boxgate.ended;
    await eventually('all are gone', () => !family.some(isRunning));
    folder.save('broken.yaml', 'kind: Client\nmetadata: {name: [\n');
    folder.remove('bystander.yaml');
    await startAgain();
    await everythingIsThere();
    expect(dev.boxgate.stderr).to.match(/broken\.yaml:[23]: cannot be read: /);
    expect((await askToken(dev.url, 'bystander', 'a-secret')).status).to.equal(200);
  });

  it('what was gone meanwhile goes once every file can be read', async () => {
    folder.save('broken.yaml', clientYaml('mended', '  secret: a-secret\n'));
    await eventually('the client of the removed file is gone', async () => {
      return (await askToken(dev.url, 'bystander', 'a-secret')).status === 401;
    });
    await everythingIsThere();
  });

  it('asked to end, it ends with 0 and leaves no process', async () => {
    const family = [...familyOf(dev.boxgate.pid), postgres()];
    expect(family.length, 'itself, the API, Postgres').to.be.greaterThan(2);
    expect(await dev.boxgate.end('SIGINT')).to.equal(0);
    expect(family.filter(isRunning)).to.deep.equal([]);
    expect(existsSync(folder.path('.boxgate/lock'))).to.equal(false);
  });
});
