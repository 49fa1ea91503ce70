import { appendFile, chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { takeBaseBackup, writeOwned } from '../support/physical-backup.ts';
import { eventually } from '../support/eventually.ts';
import { runPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

/** A streaming standby of a primary. */
export interface Standby extends OwnPostgres {
  /** Makes it a primary of its own; from the answer on it takes writes. */
  promote(): Promise<void>;
}

/** Its name, for `synchronous_standby_names`. */
export const standbyName = 'second';

/** Settings that the primary needs. */
export const primarySettings = ['wal_level=replica', 'wal_keep_size=512MB', 'max_wal_senders=5'];

/** Copies a running primary, and starts the copy as its standby. */
export async function startStandby(primary: OwnPostgres): Promise<Standby> {
  const folder = await scratchFolder('boxgate-standby-');
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

/** Copies the primary, and lets the copy follow it. */
async function copyData(primary: OwnPostgres, dataDir: string): Promise<void> {
  await takeBaseBackup(primary, dataDir);
  await writeOwned(dataDir, 'standby.signal', '');
  const { hostname, port, username, password } = new URL(primary.adminUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=${standbyName}`;
  await appendFile(path.join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
}
