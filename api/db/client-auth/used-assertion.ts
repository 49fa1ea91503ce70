import type { Connections } from '../core/pool.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';

/** Deletes at most `limit` expired used assertions of all boxes; returns their number. Throws Outage. */
export function deleteUsedAssertions(pool: Connections, now: Date, limit: number): Promise<number> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ deleted: string }>(
      'SELECT boxgate.delete_used_assertions($1, $2) AS deleted',
      [now, limit],
    );
    return Number(rows[0]?.deleted);
  });
}
