import type { Connection } from '../core/transaction.ts';
import type { Person } from './person.ts';

/** Reads those of the named groups that exist, as policies see those of their members. */
export async function groupsNamed(
  connection: Connection,
  box: string,
  names: readonly string[],
): Promise<NonNullable<Person['groups']>> {
  if (names.length === 0) return [];
  const { rows } = await connection.query<{ id: string; name: string }>(
    'SELECT id, name FROM boxgate.group WHERE box = $1 AND name = ANY ($2::text[])',
    [box, names],
  );
  return rows.map(({ id, name }) => ({ id: Number(id), name }));
}
