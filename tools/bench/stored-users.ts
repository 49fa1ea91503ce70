import type { StoredPassword } from '../../api/db/user/user.ts';
import type { Boxgate } from './boxgate.ts';
import type { BenchContext } from './context.ts';

/** A password that nobody can sign in with. */
export const noPassword: StoredPassword = { hash: 'none', pepper: 'none' };

/** The email of a stored user. */
export function emailOf(user: number): string {
  return `user-${user}@shop.example`;
}

/** Stores users 1 to `count`, `user-<id>@shop.example`, with one password for all. */
export async function storeUsers(
  context: BenchContext,
  { database, box }: Boxgate,
  count: number,
  { hash, pepper }: StoredPassword,
): Promise<void> {
  const query = (text: string, values: unknown[] = []) => context.postgres.query(database, text, values);
  await query(
    `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
     SELECT $1, i, e, e, $3, $4 FROM generate_series(1, $2::bigint) i, LATERAL (SELECT 'user-' || i || '@shop.example') t (e)`,
    [box, count, hash, pepper],
  );
  await query(`INSERT INTO boxgate.last_id (box, kind, id) VALUES ($1, 'User', $2)`, [box, count]);
  await query('VACUUM (ANALYZE) boxgate.user');
}
