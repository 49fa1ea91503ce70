import { spawnSync } from 'node:child_process';
import { chown, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { OwnPostgres } from './own-postgres.ts';

/**
 * Copies the data of a running server, as pg_basebackup does (which npm's Postgres lacks): PostgreSQL manual, "Making a
 * Base Backup Using the Low Level API". With its log the copy can be started by itself.
 */
export async function takeBaseBackup(server: OwnPostgres, dataDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.adminUrl });
  await client.connect();
  try {
    // Both calls from one connection.
    await client.query("SELECT pg_backup_start('test', true)");
    copyFiles(server.dataDir, dataDir);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(true)');
    // With the dot, which path.join would take away, into the folder that is there.
    copyFiles(`${server.dataDir}/pg_wal/.`, path.join(dataDir, 'pg_wal'));
    for (const file of ['postmaster.pid', 'postmaster.opts']) await rm(path.join(dataDir, file), { force: true });
    await writeOwned(dataDir, 'backup_label', rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
}

/** Puts a base backup in the place of the data of a server that does not run. */
export async function restoreBaseBackup(backup: string, { dataDir }: OwnPostgres): Promise<void> {
  await rm(dataDir, { recursive: true });
  copyFiles(backup, dataDir);
}

/** Writes a file that belongs to the owner of the data. */
export async function writeOwned(dataDir: string, name: string, text: string): Promise<void> {
  const file = path.join(dataDir, name);
  const { uid, gid } = await stat(dataDir);
  await writeFile(file, text, { mode: 0o600 });
  if (process.getuid?.() === 0) await chown(file, uid, gid);
}

/** A file may go while it is copied: what is missing then is in the log that the copy reads. */
function copyFiles(from: string, to: string): void {
  spawnSync('cp', ['-a', from, to], { stdio: 'ignore' });
}
