import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../dev/processes/embedded-postgres.ts';

/** A Postgres of the bench's own, with the settings that ship: fsync on, commits synchronous. */
export interface BenchPostgres {
  /** The postmaster; every backend is its child. */
  readonly pid: number;
  /** The server's own log. */
  readonly logFile: string;
  /** Returns the URL of a database, as the superuser. */
  url(database: string): string;
  /** Makes an empty database and tells its URL. */
  create(database: string): Promise<string>;
  /** Runs one statement as the superuser. */
  query<Row extends pg.QueryResultRow>(database: string, text: string, values?: unknown[]): Promise<Row[]>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/** Makes a cluster in a new temporary folder and starts it of Postgres 18. */
export async function startPostgres(): Promise<BenchPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-bench-'));
  // When the bench runs as root, Postgres runs as somebody else, who must get through to the data.
  await chmod(folder, 0o755);
  const logFile = path.join(folder, 'postgres.log');
  const server = await startEmbeddedPostgres({
    dataDir: path.join(folder, 'data'),
    logFile,
    password: randomBytes(12).toString('hex'),
  });
  const url = (database: string): string => {
    const address = new URL(server.url);
    address.pathname = `/${database}`;
    return address.href;
  };
  const query = async <Row extends pg.QueryResultRow>(database: string, text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: url(database) });
    await client.connect();
    try {
      const { rows } = await client.query<Row>(text, values);
      return rows;
    } finally {
      await client.end();
    }
  };
  return {
    pid: server.pid,
    logFile,
    url,
    query,
    async create(database) {
      await query('postgres', `CREATE DATABASE ${pg.escapeIdentifier(database)}`);
      return url(database);
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
