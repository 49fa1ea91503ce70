import { expect } from 'chai';
import { chmodSync } from 'node:fs';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dev/processes/embedded-postgres.ts';
import type { EmbeddedPostgres, PostgresPrograms } from '../../dev/processes/embedded-postgres.ts';
import { isObject } from '../../crds/path.ts';
import { guardPostgres } from '../support/guard-postgres.ts';
import { oldestPostgres } from '../../tools/needs/oldest-postgres.ts';
import { isActive } from './box-requests.ts';
import { runBoxgate } from './boxgate-process.ts';
import { startDev, urlsOf } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

/** A server as other people run it: its programs, its settings, and further statements of its superuser. */
interface Server {
  readonly programs: () => Promise<PostgresPrograms | undefined>;
  readonly settings: readonly string[];
  readonly more: readonly string[];
}

/** Settings that CloudNativePG makes by itself. */
const cloudNativePg = [
  ...['wal_level=logical', 'wal_log_hints=on', 'wal_receiver_timeout=5s', 'wal_sender_timeout=5s'],
  ...['max_worker_processes=32', 'max_parallel_workers=32', 'max_replication_slots=32', 'wal_keep_size=512MB'],
  ...['dynamic_shared_memory_type=posix', 'shared_memory_type=mmap', 'log_destination=csvlog', 'logging_collector=on'],
];
const servers: Readonly<Record<string, Server>> = {
  'Postgres 15': { programs: oldestPostgres, settings: [], more: [] },
  'Postgres 18 as CloudNativePG sets it': {
    programs: () => Promise.resolve(undefined),
    settings: cloudNativePg,
    more: [`ALTER ROLE plain SET search_path = 'app, public'`, `ALTER ROLE api SET search_path = 'app, public'`],
  },
};

for (const [name, { programs, settings, more }] of Object.entries(servers)) {
  describe(`${name}, with an owner that is no superuser`, () => {
    // E-01: only a superuser of Postgres 18 could migrate.
    let folder: TemporaryFolder;
    let postgres: EmbeddedPostgres;
    let callOffGuard: () => void;
    let urls: { readonly ownerUrl: string; readonly apiUrl: string };

    before(async () => {
      folder = temporaryFolder();
      chmodSync(folder.root, 0o755);
      callOffGuard = guardPostgres(folder.root);
      const found = await programs();
      const files = { dataDir: folder.path('data'), logFile: folder.path('postgres.log') };
      const options = { ...files, password: 'of-the-superuser', settings, startTimeout: 240_000 };
      postgres = await startEmbeddedPostgres({ ...options, ...(found && { programs: found }) });
      const superuser = new pg.Client({ connectionString: postgres.url });
      await superuser.connect();
      for (const statement of [
        `CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD 'canary'`,
        `CREATE ROLE api LOGIN PASSWORD 'canary'`,
        'CREATE DATABASE prod OWNER plain',
        ...more,
      ]) {
        await superuser.query(statement);
      }
      await superuser.end();
      urls = { ownerUrl: urlOf('plain'), apiUrl: urlOf('api') };
    });
    after(async () => {
      await postgres.stop();
      folder.remove();
      callOffGuard();
    });

    function urlOf(role: string): string {
      const url = new URL('/prod', postgres.url);
      url.username = role;
      url.password = 'canary';
      return url.href;
    }

    it('is migrated by boxgate migrate', async () => {
      const environment = { BOXGATE_OWNER_URL: urls.ownerUrl, BOXGATE_DATABASE_URL: urls.apiUrl };
      const first = await runBoxgate(['migrate'], { environment });
      expect(first.code, first.stderr).to.equal(0);
      expect(first.stdout).to.match(/^schema \d+: applied schema\.sql$/m);
      expect((await runBoxgate(['migrate'], { environment })).stdout).to.match(/^schema \d+: nothing to do$/m);
    });

    it('serves boxgate dev, which issues, introspects and refreshes a token', async () => {
      const auth = '  secret: chosen\n  auth: { client_credentials: { refresh_token: true } }\n';
      folder.write('manifests/client.yaml', clientYaml('app', auth));
      const { boxgate, url } = await startDev(folder.path('manifests'), urlsOf(urls));
      try {
        const request = async (fields: Readonly<Record<string, string>>): Promise<Record<string, unknown>> => {
          const body = new URLSearchParams({ client_id: 'app', client_secret: 'chosen', ...fields });
          const answer: unknown = await (await fetch(`${url}/auth/token`, { method: 'POST', body })).json();
          if (!isObject(answer)) throw new Error('the token endpoint answers an object');
          return answer;
        };
        const { access_token: token, refresh_token: refresh } = await request({ grant_type: 'client_credentials' });
        expect(await isActive(url, String(token), 'app', 'chosen')).to.equal(true);
        const next = await request({ grant_type: 'refresh_token', refresh_token: String(refresh) });
        expect(await isActive(url, String(next['access_token']), 'app', 'chosen')).to.equal(true);
      } finally {
        await boxgate.end();
      }
    });
  });
}
