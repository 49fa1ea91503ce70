import type { StoredUser } from '../../db/user/user.ts';
import type { UserServices } from '../services.ts';

/** Reads one user; undefined when there is none. Throws Outage. */
export function getUser(
  { records }: Pick<UserServices, 'records'>,
  box: string,
  id: number,
): Promise<StoredUser | undefined> {
  return records.user({ box, id });
}
