import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { migrate } from '../../api/db/core/migrate.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { createCertificate, type ServiceCertificate } from '../../operator/keys/certificate.ts';
import { portOf } from '../../program/environment.ts';
import { renderChart } from '../../tools/chart/render.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres.ts';
import { at, environmentOf, manifestsIn, podsOf, type Manifest } from './rendered.ts';
import { variants } from './variants.ts';

/** The place where the chart mounts the authority. */
const mounted = '/etc/boxgate/database/ca.crt';

/** Codes of the failures of TLS that this test causes. */
const [otherAuthority, otherHost] = ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'] as const;

/** Answer to a request for TLS (PostgreSQL protocol, "SSL Session Encryption"). */
const willing = 'S';

describe('database.caSecretName of the chart', () => {
  let database: TestDatabase;
  let folder: string;
  let shown: ServiceCertificate;
  let all: readonly Manifest[];
  let server: Server;
  let encrypted = 0;

  before(async () => {
    database = await freshDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-database-tls-'));
    shown = await createCertificate(['localhost'], Date.now());
    const other = await createCertificate(['localhost'], Date.now());
    await writeFile(path.join(folder, 'ca.crt'), shown.authority);
    await writeFile(path.join(folder, 'other.crt'), other.authority);
    all = manifestsIn(await renderChart(variants['TLS to Postgres'] ?? expect.fail('no such variant')));
    server = createServer(inFrontOfPostgres);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    encrypted = 0;
  });

  /** Speaks TLS for the Postgres of the tests, which has no certificate. */
  function inFrontOfPostgres(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const secureContext = createSecureContext({ cert: shown.certificate, key: shown.key });
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      const { hostname, port } = new URL(database.apiUrl);
      const postgres = connect(Number(port), hostname);
      secured.on('error', () => postgres.destroy());
      secured.on('secure', () => (encrypted += 1));
      postgres.on('error', () => secured.destroy());
      secured.pipe(postgres).pipe(secured);
      socket.write(willing);
    });
  }

  /** Returns an URL of a test's database through the server in front, as a Secret has it. */
  function inSecret(url: string, host = 'localhost', query = ''): string {
    const given = new URL(url);
    given.host = `${host}:${String(portOf(server))}`;
    given.search = query;
    return given.href;
  }

  /** Returns the variable of a program, with the URL of the Secret and the file of an authority of the test. */
  function variableOf(kind: string, variable: string, url: string, authority = 'ca.crt'): string {
    const workload = all.find((one) => one.kind === kind && /^boxgate-(?:api|migrate-\w+)$/.test(one.name))?.object;
    const given = environmentOf(workload, { [variable.replace('BOXGATE_', '')]: url })[variable] ?? '';
    // A program reads its URL by way of the class URL.
    return new URL(given.replaceAll(mounted, path.join(folder, authority))).href;
  }

  /** Returns the code of the failure of a connection; 'connected' if there is none. */
  async function failureOf(url: string): Promise<string> {
    const pool = createPool(url, { ...defaultLimits, connections: 1 }, 'database-tls-test', () => undefined);
    try {
      await pool.query('SELECT 1');
      return 'connected';
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    } finally {
      await pool.end();
    }
  }

  it('mounts the authority, and no key of it, where the API and the migration read it', () => {
    const pods = podsOf(all).filter(({ name }) => /^(?:Deployment boxgate-api|Job boxgate-migrate-\w+)$/.test(name));
    expect(pods).to.have.lengthOf(2);
    for (const { pod } of pods) {
      const [volumes, places] = [at(pod, 'spec', 'volumes'), at(pod, 'spec', 'containers', 0, 'volumeMounts')];
      expect(volumes).to.deep.include({
        name: 'database-ca',
        secret: { secretName: 'cluster-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
      });
      expect(places).to.deep.include({ name: 'database-ca', mountPath: path.dirname(mounted), readOnly: true });
    }
  });

  it('lets the migration and the API reach Postgres over TLS, with the URLs of their Secrets as they are', async () => {
    const owner = variableOf('Job', 'BOXGATE_OWNER_URL', inSecret(database.ownerUrl));
    expect((await migrate(owner, new URL(database.apiUrl).username)).applied).to.deep.equal([]);
    expect(await failureOf(variableOf('Deployment', 'BOXGATE_DATABASE_URL', inSecret(database.apiUrl)))).to.equal(
      'connected',
    );
    expect(encrypted).to.equal(2);
  });

  it('refuses another authority, and another host', async () => {
    const url = inSecret(database.apiUrl);
    expect(await failureOf(variableOf('Deployment', 'BOXGATE_DATABASE_URL', url, 'other.crt'))).to.equal(
      otherAuthority,
    );
    const elsewhere = inSecret(database.apiUrl, '127.0.0.1');
    expect(await failureOf(variableOf('Deployment', 'BOXGATE_DATABASE_URL', elsewhere))).to.equal(otherHost);
  });

  const queries: readonly (readonly [query: string, host: string, result: string])[] = [
    ['sslmode=disable', 'localhost', 'connected'],
    ['sslmode=no-verify', '127.0.0.1', otherHost],
    ['sslmode=require', '127.0.0.1', otherHost],
    [`application_name=x&sslmode=verify-full&sslrootcert=${mounted}`, 'localhost', 'connected'],
    [`uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${mounted}`, '127.0.0.1', 'connected'],
  ];
  for (const [query, host, result] of queries) {
    it(`never leaves TLS out, nor the authority, where the Secret's URL has ?${query}`, async () => {
      const url = inSecret(database.apiUrl, host, query);
      expect(await failureOf(variableOf('Deployment', 'BOXGATE_DATABASE_URL', url))).to.equal(result);
      expect(await failureOf(variableOf('Deployment', 'BOXGATE_DATABASE_URL', url, 'other.crt'))).to.equal(
        otherAuthority,
      );
    });
  }
});
