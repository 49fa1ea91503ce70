import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import type { Environment } from '../../program/environment.ts';
import { testEncryptionKey } from '../support/api.ts';
import { inherited } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startLoggedProcess, type LoggedProcess } from '../support/logged-process.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres.ts';

type Waiting = LoggedProcess & { readonly found: string };

describe('an API whose database cannot serve at its start', () => {
  let database: TestDatabase;
  let api: Waiting | undefined;

  beforeEach(async () => {
    database = await bareDatabase();
  });
  afterEach(async () => {
    await api?.end('SIGKILL');
    api = undefined;
    await database.drop();
  });

  /** Starts the API and waits until it answers probes. */
  async function startWaiting(databaseUrl: string, environment: Environment = {}): Promise<Waiting> {
    const settings = {
      BOXGATE_DATABASE_URL: databaseUrl,
      BOXGATE_HOST: '127.0.0.1',
      BOXGATE_PORT: '0',
      BOXGATE_MANAGEMENT_PORT: '0',
      BOXGATE_MANAGEMENT_KEYS: 'a-management-key',
      BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
      BOXGATE_PUBLIC_URL: 'http://boxgate.test',
      ...environment,
    };
    const portIn = (line: string) => /"management_port":(\d+),"msg":"answering probes"/.exec(line)?.[1];
    api = await startLoggedProcess(['api/main.ts', 'api'], settings, portIn);
    return api;
  }

  async function probe({ found }: Waiting, path: string): Promise<readonly [status: number, text: string]> {
    const response = await fetch(`http://127.0.0.1:${found}${path}`);
    return [response.status, await response.text()];
  }

  const said = ({ lines }: Waiting, text: string) => lines.filter((line) => line.includes(text));

  it('X-15 F-18 is alive and not ready while Postgres is away, and serves when it is back', async () => {
    migrate();
    const url = new URL(database.apiUrl);
    const proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    proxy.isClosed = true;
    try {
      const waiting = await startWaiting(url.href);
      expect(await probe(waiting, '/healthz')).to.deep.equal([200, 'ok']);
      await eventually('it has said why', () => said(waiting, 'waiting for the database').length > 0);
      const [status, text] = await probe(waiting, '/readyz');
      expect(status).to.equal(503);
      expect(text).to.match(/^Postgres cannot answer now .*NetworkPolicies let this pod reach it/);
      expect((await probe(waiting, '/epoch'))[0], 'an operator tries again').to.equal(503);
      expect(said(waiting, 'waiting for the database'), waiting.lines.join()).to.have.length(1);
      proxy.isClosed = false;
      await eventually('it serves', () => said(waiting, '"msg":"listening"').length === 1);
    } finally {
      await proxy.close();
    }
  });

  it('names the migration that is missing, and serves once it has run', async () => {
    const waiting = await startWaiting(database.apiUrl);
    await eventually('it has said why', () => said(waiting, 'run boxgate migrate').length === 1);
    expect(await probe(waiting, '/readyz')).to.satisfy(
      ([status, text]: readonly [number, string]) =>
        status === 503 && /^The database is at schema 0, this release needs \d+: run boxgate migrate$/.test(text),
    );
    migrate();
    await eventually('it serves', () => said(waiting, '"msg":"listening"').length === 1);
  });

  it('says that its password is refused, without the password, and stops when it is asked to', async () => {
    migrate();
    const url = new URL(database.apiUrl);
    url.password = 'canary-of-the-password';
    const waiting = await startWaiting(url.href);
    await eventually('it has said why', () => said(waiting, 'waiting for the database').length > 0);
    expect(waiting.lines.join('\n')).to.match(/refuses the role or the password of BOXGATE_DATABASE_URL; compare/);
    expect(waiting.lines.join('\n')).to.not.include('canary-of-the-password');
    expect(await waiting.end('SIGTERM')).to.equal(0);
    api = undefined;
  });

  function migrate(): void {
    execFileSync(process.execPath, ['api/main.ts', 'migrate'], {
      env: {
        ...inherited,
        BOXGATE_OWNER_URL: database.ownerUrl,
        BOXGATE_DATABASE_URL: database.apiUrl,
      },
    });
  }
});
