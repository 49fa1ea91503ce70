import type { Connection } from '../core/transaction.ts';

/**
 * Returns the installation that declares a box: the one of its namespace, otherwise the one that declares most of its
 * resources; undefined if none declares anything.
 */
export async function clusterOfBox(connection: Connection, box: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ cluster: string | null }>(
    `SELECT coalesce(b.namespace_cluster,
                     (SELECT o.owner_cluster
                        FROM (SELECT r.owner_cluster FROM boxgate.resource r WHERE r.box = b.box
                              UNION ALL SELECT g.owner_cluster FROM boxgate.group g WHERE g.box = b.box) AS o
                       WHERE o.owner_cluster IS NOT NULL
                       GROUP BY o.owner_cluster ORDER BY count(*) DESC, o.owner_cluster LIMIT 1)) AS cluster
       FROM boxgate.box b WHERE b.box = $1`,
    [box],
  );
  return rows[0]?.cluster ?? undefined;
}
