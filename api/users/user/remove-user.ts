import { bumpVersion } from '../../db/box/box.ts';
import { lockUser } from '../../db/user/user.ts';
import type { StoredUser } from '../../db/user/user.ts';
import { deleteUser, endUserSessions } from '../../db/user/user-write.ts';
import { changing } from '../../records/write/change.ts';
import type { ChangingServices } from '../../records/write/change.ts';
import { demandPreconditions } from '../../records/write/etag.ts';
import type { Preconditions } from '../../records/write/etag.ts';
import { userVersion } from './view.ts';

/**
 * Deletes a user with all that it has begun, in one transaction, and returns it; undefined when it was not there. Its
 * id is never used again. Throws Problem `precondition-failed`, and Outage.
 */
export function removeUser(
  services: ChangingServices,
  box: string,
  id: number,
  preconditions: Preconditions = {},
): Promise<StoredUser | undefined> {
  return changing(services, box, async (connection, note) => {
    const user = await lockUser(connection, box, id);
    demandPreconditions(preconditions, user && userVersion(user));
    if (user === undefined || !(await deleteUser(connection, box, id))) return undefined;
    await endUserSessions(connection, box, await bumpVersion(connection, box), id);
    note({ event: 'user.deleted', target: `User/${String(id)}` });
    return user;
  });
}
