import type { Connection } from '../core/transaction.ts';

/** Kinds whose id the service assigns: an integer, counted from 1 in each box, so that it reveals nothing of others. */
export type NumberedKind = 'User' | 'Group';

/**
 * Takes the next id of a kind in a box. The counter is locked until the transaction ends; a rollback returns the id,
 * and a committed one is never used again, even after its row is deleted.
 */
export async function nextId(connection: Connection, box: string, kind: NumberedKind): Promise<number> {
  const { rows } = await connection.query<{ id: string }>(
    `INSERT INTO boxgate.last_id AS l (box, kind, id) VALUES ($1, $2, 1)
     ON CONFLICT (box, kind) DO UPDATE SET id = l.id + 1 RETURNING id`,
    [box, kind],
  );
  return Number(rows[0]?.id);
}
