import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import type { TestApi } from './api.ts';

/** Runs one statement as the owner of an API's database, who sees every box; its rows. */
export async function ownerQuery(
  { database }: Pick<TestApi, 'database'>,
  statement: string,
  parameters: readonly unknown[],
): Promise<readonly Record<string, unknown>[]> {
  const pool = createPool(database.ownerUrl, patient, 'owner', () => undefined);
  const { rows } = await pool.query<Record<string, unknown>>(statement, [...parameters]);
  await pool.end();
  return rows;
}

/** It is no request of a caller: on a slow machine it may take long. */
const patient = {
  ...defaultLimits,
  connections: 1,
  connectTimeout: 60_000,
  statementTimeout: 60_000,
  lockTimeout: 60_000,
};
