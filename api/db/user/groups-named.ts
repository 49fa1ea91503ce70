import type { Connection } from '../core/transaction.ts';
import type { GroupOfUser } from './user.ts';

/** Reads those of the named groups that exist, as the rows of their members show them. */
export async function groupsNamed(
  connection: Connection,
  box: string,
  names: readonly string[],
): Promise<readonly GroupOfUser[]> {
  if (names.length === 0) return [];
  const { rows } = await connection.query<{ id: string; name: string; description: string | null }>(
    'SELECT id, name, description FROM boxgate.group WHERE box = $1 AND name = ANY ($2::text[])',
    [box, names],
  );
  return rows.map(({ id, ...group }) => ({ id: Number(id), ...group }));
}
