import { randomBytes } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { upkeepBuckets } from '../../api/db/session/bucket.ts';
import { migrate } from '../../api/db/core/migrate.ts';
import { startEmbeddedPostgres } from '../../dev/processes/embedded-postgres.ts';
import type { EmbeddedPostgres } from '../../dev/processes/embedded-postgres.ts';
import { eventually } from './eventually.ts';
import { guardPostgres } from './guard-postgres.ts';
import { ownPort } from './own-port.ts';
import { familyOf, isRunning, signalAll } from './processes.ts';
import { scratchFolder } from './scratch-folder.ts';

/** A Postgres server of one test's own, which the test may freeze and kill. */
export interface OwnPostgres {
  readonly port: number;
  readonly dataDir: string;
  /** URL of its migrated database as the owner, who is no superuser. */
  readonly ownerUrl: string;
  readonly apiUrl: string;
  /** URL of the database `postgres`, as superuser. */
  readonly adminUrl: string;
  /** Runs statements as superuser in the migrated database, over a connection of their own. */
  query(...statements: readonly string[]): Promise<pg.QueryResult<Record<string, unknown>>>;
  /** SIGSTOP or SIGCONT to the server and all its processes. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL to the server; its processes follow. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

const apiRole = 'boxgate_api';
const ownerRole = 'boxgate_owner';
const database = 'boxgate';

/** Starts a server with fsync on, as it ships; its database is migrated and has its buckets. */
export async function startOwnPostgres(settings: readonly string[] = []): Promise<OwnPostgres> {
  const folder = await scratchFolder('boxgate-own-postgres-');
  await chmod(folder, 0o755);
  const callOffGuard = guardPostgres(folder);
  const password = randomBytes(12).toString('hex');
  const postgres = await runPostgres(path.join(folder, 'data'), password, settings);
  await prepare(postgres, password);
  return {
    ...postgres,
    async remove() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
      callOffGuard();
    },
  };
}

/** Runs a server on data that may be there already, such as a copy of another's. */
export async function runPostgres(
  dataDir: string,
  password: string,
  settings: readonly string[],
): Promise<Omit<OwnPostgres, 'remove'> & { stop(): Promise<void> }> {
  const logFile = `${dataDir}.log`;
  const port = await ownPort();
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir, logFile, password, settings, port });
  const { url: adminUrl } = server;
  return {
    port,
    dataDir,
    adminUrl,
    ownerUrl: urlOf(adminUrl, ownerRole, password),
    apiUrl: urlOf(adminUrl, apiRole, password),
    query: (...statements) => queryOn(urlOf(adminUrl, 'postgres', password), statements),
    freeze() {
      signalAll(familyOf(server.pid), 'SIGSTOP');
    },
    thaw() {
      signalAll(familyOf(server.pid), 'SIGCONT');
    },
    async kill() {
      const processes = familyOf(server.pid);
      process.kill(server.pid, 'SIGKILL');
      await eventually('the processes of the server are gone', () => !processes.some(isRunning));
    },
    async restart() {
      server = await startEmbeddedPostgres({ dataDir, logFile, password, settings, port });
    },
    async stop() {
      if (isRunning(server.pid)) signalAll(familyOf(server.pid), 'SIGCONT');
      await server.stop();
    },
  };
}

function urlOf(adminUrl: string, user: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = user;
  url.password = password;
  url.pathname = `/${database}`;
  return url.href;
}

async function prepare(
  { adminUrl, ownerUrl }: Pick<OwnPostgres, 'adminUrl' | 'ownerUrl'>,
  password: string,
): Promise<void> {
  await queryOn(adminUrl, [
    `CREATE ROLE ${apiRole} LOGIN PASSWORD '${password}'`,
    `CREATE ROLE ${ownerRole} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD '${password}'`,
    `CREATE DATABASE ${database} OWNER ${ownerRole}`,
  ]);
  await migrate(ownerUrl, apiRole);
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 1 });
  await upkeepBuckets(pool, new Date());
  await pool.end();
}

async function queryOn(url: string, statements: readonly string[]): Promise<pg.QueryResult<Record<string, unknown>>> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let result = await client.query<Record<string, unknown>>('SELECT');
    for (const statement of statements) result = await client.query<Record<string, unknown>>(statement);
    return result;
  } finally {
    await client.end();
  }
}
