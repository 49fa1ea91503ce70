import { bumpVersion } from '../db/box.ts';
import { readUser } from '../db/user.ts';
import type { StoredUser } from '../db/user.ts';
import { deleteUser, endUserSessions } from '../db/user-write.ts';
import { changing } from '../resources/change.ts';
import type { UserServices } from './services.ts';

/**
 * Deletes a user with all that it has begun, in one transaction, and returns it; undefined when it was not
 * there. Its id is never given again. Throws Outage.
 */
export function removeUser(
  services: Pick<UserServices, 'pool' | 'revocationsNeedStandby'>,
  box: string,
  id: number,
): Promise<StoredUser | undefined> {
  return changing(services, box, async (connection) => {
    const user = await readUser(connection, box, id);
    if (user === undefined || !(await deleteUser(connection, box, id))) return undefined;
    await endUserSessions(connection, box, await bumpVersion(connection, box), id);
    return user;
  });
}
