import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchPostgres } from './postgres.ts';

const program = fileURLToPath(new URL('../../../api/main.ts', import.meta.url));

/**
 * Makes a migrated database and a role for its API, which only reads and writes rows; their URLs by our settings'
 * names.
 */
export async function makeDatabase(
  postgres: BenchPostgres,
  database: string,
): Promise<{ BOXGATE_OWNER_URL: string; BOXGATE_DATABASE_URL: string }> {
  const password = randomBytes(12).toString('hex');
  const owner = await postgres.create(database);
  const url = new URL(owner);
  url.username = `${database}_api`;
  url.password = password;
  await postgres.query('postgres', `CREATE ROLE ${url.username} LOGIN PASSWORD '${password}'`);
  const urls = { BOXGATE_OWNER_URL: owner, BOXGATE_DATABASE_URL: url.href };
  await promisify(execFile)(process.execPath, [program, 'migrate'], { env: { ...process.env, ...urls } });
  return urls;
}
