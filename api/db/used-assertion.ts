import type { Connections } from './pool.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/** Deletes at most `limit` used assertions that nobody takes for valid any more, of all boxes; how many. Throws Outage. */
export function deleteUsedAssertions(pool: Connections, now: Date, limit: number): Promise<number> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ deleted: string }>(
      'SELECT boxgate.delete_used_assertions($1, $2) AS deleted',
      [now, limit],
    );
    return Number(rows[0]?.deleted);
  });
}
