import { spawnSync } from 'node:child_process';
import { appendFile, chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { eventually } from '../support/eventually.ts';
import { runPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';

/** A streaming standby of a primary. */
export interface Standby extends OwnPostgres {
  /** Makes it a primary of its own; from the answer on it takes writes. */
  promote(): Promise<void>;
}

/** Its name, for `synchronous_standby_names`. */
export const standbyName = 'second';

/** Settings that the primary needs. */
export const primarySettings = ['wal_level=replica', 'wal_keep_size=512MB', 'max_wal_senders=5'];

/** Copies a running primary, as pg_basebackup does (which npm's Postgres lacks), and lets the copy follow it. */
export async function startStandby(primary: OwnPostgres): Promise<Standby> {
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-standby-'));
  await chmod(folder, 0o755);
  const dataDir = path.join(folder, 'data');
  await copyData(primary, dataDir);
  const { password } = new URL(primary.adminUrl);
  const server = await runPostgres(dataDir, decodeURIComponent(password), primarySettings);
  await eventually('the standby streams', async () => {
    const { rows } = await primary.query("SELECT FROM pg_stat_replication WHERE state = 'streaming'");
    return rows.length === 1;
  });
  return {
    ...server,
    async promote() {
      await server.query('SELECT pg_promote(true, 60)');
    },
    async remove() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL manual, "Making a Base Backup Using the Low Level API": both calls from one connection. */
async function copyData(primary: OwnPostgres, dataDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.ownerUrl });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    copyFiles(primary.dataDir, dataDir);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(true)');
    for (const file of ['postmaster.pid', 'postmaster.opts']) await rm(path.join(dataDir, file), { force: true });
    await writeOwned(dataDir, 'backup_label', rows[0]?.labelfile ?? '');
    await writeOwned(dataDir, 'standby.signal', '');
  } finally {
    await client.end();
  }
  const { hostname, port, username, password } = new URL(primary.adminUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=${standbyName}`;
  await appendFile(path.join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
}

/** A file may go while it is copied: what is missing then is in the log that the standby reads. */
function copyFiles(from: string, to: string): void {
  spawnSync('cp', ['-a', from, to], { stdio: 'ignore' });
}

/** A file that belongs to whom the data belongs. */
async function writeOwned(dataDir: string, name: string, text: string): Promise<void> {
  const file = path.join(dataDir, name);
  const { uid, gid } = await stat(dataDir);
  await writeFile(file, text, { mode: 0o600 });
  if (process.getuid?.() === 0) await chown(file, uid, gid);
}
