import type { Connection } from '../core/transaction.ts';

/** Finds the id of the user whose email has this normal form; undefined if there is none. */
export async function userOfEmail(connection: Connection, box: string, emailKey: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ id: string }>(
    'SELECT id FROM boxgate.user WHERE box = $1 AND email_key = $2',
    [box, emailKey],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].id);
}

/** Returns those of the groups that do not exist. */
export async function missingGroups(
  connection: Connection,
  box: string,
  groups: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await connection.query<{ id: string }>(
    'SELECT id FROM boxgate.group WHERE box = $1 AND id = ANY ($2::bigint[])',
    [box, groups],
  );
  const found = new Set(rows.map(({ id }) => Number(id)));
  return groups.filter((id) => !found.has(id));
}
