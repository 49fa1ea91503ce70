import type { Connection } from './transaction.ts';

/** What gets its id from the service: an integer, counted in each box from 1, so that it tells nothing of other boxes. */
export type NumberedKind = 'User' | 'Group';

/**
 * The next id of a kind in a box. Whoever takes one holds the counter until the transaction ends; one that is rolled back
 * gives it back, one that was committed never comes again, also when its row is deleted.
 */
export async function nextId(connection: Connection, box: string, kind: NumberedKind): Promise<number> {
  const { rows } = await connection.query<{ id: string }>(
    `INSERT INTO boxgate.last_id AS l (box, kind, id) VALUES ($1, $2, 1)
     ON CONFLICT (box, kind) DO UPDATE SET id = l.id + 1 RETURNING id`,
    [box, kind],
  );
  return Number(rows[0]?.id);
}
