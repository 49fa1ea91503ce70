import { randomBytes } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../dev/processes/embedded-postgres.ts';
import type { EmbeddedPostgres } from '../../dev/processes/embedded-postgres.ts';
import { guardPostgres } from './guard-postgres.ts';
import { oldestPostgres } from '../../tools/needs/oldest-postgres.ts';
import { makeTemplate } from './postgres.ts';
import { scratchFolder } from './scratch-folder.ts';

let folder: string | undefined;
let postgres: EmbeddedPostgres | undefined;
let callOffGuard: (() => void) | undefined;

/**
 * Starts the real Postgres that all test files share, with the migrated template their databases are made from, unless
 * BOXGATE_TEST_POSTGRES names one that another process has started so. BOXGATE_TEST_POSTGRES_VERSION=15 makes
 * it the oldest one that Boxgate runs on.
 */
export async function mochaGlobalSetup(): Promise<void> {
  if (process.env['BOXGATE_TEST_POSTGRES'] !== undefined) return;
  folder = await scratchFolder('boxgate-test-');
  await chmod(folder, 0o755);
  callOffGuard = guardPostgres(folder);
  postgres = await startEmbeddedPostgres({
    dataDir: path.join(folder, 'data'),
    logFile: path.join(folder, 'postgres.log'),
    password: randomBytes(12).toString('hex'),
    startTimeout: 240_000,
    ...(process.env['BOXGATE_TEST_POSTGRES_VERSION'] === '15' ? { programs: await oldestPostgres() } : {}),
    settings: [
      'fsync=off',
      'synchronous_commit=off',
      'full_page_writes=off',
      'max_connections=300',
      'wal_level=replica',
      // It comes when it likes: it would hold the template while a database is made of it, and change plans and costs.
      'autovacuum=off',
    ],
  });
  process.env['BOXGATE_TEST_POSTGRES'] = postgres.url;
  try {
    await makeTemplate();
  } catch (error) {
    await mochaGlobalTeardown();
    throw error;
  }
}

/** Ends the Postgres and removes its files. */
export async function mochaGlobalTeardown(): Promise<void> {
  await postgres?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  callOffGuard?.();
}
