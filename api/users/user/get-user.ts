import { inBox } from '../../db/core/transaction.ts';
import { readUser } from '../../db/user/user.ts';
import type { StoredUser } from '../../db/user/user.ts';
import type { UserServices } from '../services.ts';

/** Reads one user; undefined when there is none. Throws Outage. */
export function getUser(
  { pool }: Pick<UserServices, 'pool'>,
  box: string,
  id: number,
): Promise<StoredUser | undefined> {
  return inBox(pool, box, 'snapshot', (connection) => readUser(connection, box, id));
}
