import { createPool, defaultLimits } from '../../api/db/pool.ts';
import type { TestApi } from './api.ts';

/** Runs one statement as the owner of an API's database, who sees every box; its rows. */
export async function ownerQuery(
  { database }: Pick<TestApi, 'database'>,
  statement: string,
  parameters: readonly unknown[],
): Promise<readonly Record<string, unknown>[]> {
  const pool = createPool(database.ownerUrl, { ...defaultLimits, connections: 1 }, 'owner', () => undefined);
  const { rows } = await pool.query<Record<string, unknown>>(statement, [...parameters]);
  await pool.end();
  return rows;
}
