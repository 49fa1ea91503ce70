import type pg from 'pg';
import { bumpVersion } from '../../api/db/box/box.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { inBoxWithin } from '../../api/db/core/transaction.ts';
import type { Connection } from '../../api/db/core/transaction.ts';
import { freshDatabase } from '../support/postgres.ts';

/** A database of a test's own with two boxes, seen through the API's role, and its end. */
export interface BoxDatabase {
  readonly pool: pg.Pool;
  /** Past row-level security and grants: for what a test arranges or looks at. */
  readonly owner: pg.Pool;
  /** Work in box `default`. */
  write<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** The same under the next config version of the box. */
  change<T>(work: (connection: Connection, version: number) => Promise<T>): Promise<T>;
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** The config version of a box. */
  versionOf(box: string): Promise<number>;
  end(): Promise<void>;
}

/** Makes a database with the boxes `default` and `other`. */
export async function boxDatabase(): Promise<BoxDatabase> {
  const database = await freshDatabase();
  // What waits or takes long on a slow machine is no outage here.
  const limits = { ...defaultLimits, connectTimeout: 30_000, statementTimeout: 10_000 };
  const pool = createPool(database.apiUrl, { ...limits, connections: 8 }, 'boxgate-test', () => undefined);
  const owner = createPool(database.ownerUrl, { ...limits, statementTimeout: 30_000 }, 'owner', () => undefined);
  await owner.query(`INSERT INTO boxgate.box (box) VALUES ('default'), ('other')`);
  // As an apply has them: thousands of rows take longer than a request may.
  const write: BoxDatabase['write'] = (work) => inBoxWithin(pool, 'default', { mode: 'write', limit: 60_000 }, work);
  return {
    pool,
    owner,
    write,
    change: (work) => write(async (connection) => work(connection, await bumpVersion(connection, 'default'))),
    read: (work) => inBoxWithin(pool, 'default', { mode: 'snapshot', limit: 60_000 }, work),
    async versionOf(box) {
      const text = 'SELECT config_version AS version FROM boxgate.box WHERE box = $1';
      const { rows } = await owner.query<{ version: string }>(text, [box]);
      return Number(rows[0]?.version ?? 0);
    },
    async end() {
      await Promise.all([pool.end(), owner.end()]);
      await database.drop();
    },
  };
}
