import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { databaseSuffix } from '../../../program/environment.ts';
import type { BenchPostgres } from './postgres.ts';

const program = fileURLToPath(new URL('../../../api/main.ts', import.meta.url));

/** URLs of a database, by our settings' names; those of further databases, and the list of all, are beside them. */
type DatabaseUrls = Readonly<Record<string, string>> & {
  readonly BOXGATE_OWNER_URL: string;
  readonly BOXGATE_DATABASE_URL: string;
};

/**
 * Makes a migrated database and a role for its API, which only reads and writes rows; their URLs by our settings'
 * names. `others` are the further databases of the installation by their names, each on a Postgres of its own.
 */
export async function makeDatabase(
  postgres: BenchPostgres,
  database: string,
  others: ReadonlyMap<string, BenchPostgres> = new Map(),
): Promise<DatabaseUrls> {
  const home = await emptyDatabase(postgres, database);
  const further = new Map<string, string>([['BOXGATE_DATABASES', ['home', ...others.keys()].join()]]);
  for (const [name, where] of others) {
    const { owner, api } = await emptyDatabase(where, database);
    further.set(`BOXGATE_OWNER_URL${databaseSuffix(name)}`, owner);
    further.set(`BOXGATE_DATABASE_URL${databaseSuffix(name)}`, api);
  }
  const urls = { ...Object.fromEntries(further), BOXGATE_OWNER_URL: home.owner, BOXGATE_DATABASE_URL: home.api };
  await promisify(execFile)(process.execPath, [program, 'migrate'], { env: { ...process.env, ...urls } });
  return urls;
}

async function emptyDatabase(
  postgres: BenchPostgres,
  database: string,
): Promise<{ readonly owner: string; readonly api: string }> {
  const password = randomBytes(12).toString('hex');
  const owner = await postgres.create(database);
  const url = new URL(owner);
  url.username = `${database}_api`;
  url.password = password;
  await postgres.query('postgres', `CREATE ROLE ${url.username} LOGIN PASSWORD '${password}'`);
  return { owner, api: url.href };
}
