import type { Box } from '../../../crds/box.ts';
import { inBoxRecorded } from '../../audit/recorded.ts';
import { inBox } from '../../db/core/transaction.ts';
import { readUser } from '../../db/user/user.ts';
import type { StoredUser } from '../../db/user/user.ts';
import { insertUser, setGroupsOfUser } from '../../db/user/user-write.ts';
import { InvalidUser } from './invalid-user.ts';
import type { UserServices } from '../services.ts';
import { conflictsOf, taken, unknownGroups } from './user-conflicts.ts';
import { readUserSubmission } from './submission.ts';
import { newUserEvents } from './user-events.ts';
import { withinQuota } from '../../records/write/within-quota.ts';

/**
 * Creates a user. Throws InvalidUser with every fault of the submission and every conflict with the box at once; Outage
 * when Postgres is away or too many passwords wait.
 */
export async function createUser(
  services: Pick<UserServices, 'pool' | 'trail' | 'passwords'>,
  box: string,
  settings: Box,
  value: unknown,
): Promise<StoredUser> {
  const { wish, faults, entity } = await readUserSubmission(value, undefined, settings);
  // Before the password is hashed, which costs a hundred times as much.
  const conflicts = await inBox(services.pool, box, 'snapshot', (connection) => conflictsOf(connection, box, wish));
  const { email, emailKey, emailVerified = null, password, data = null, status = null, groups = [] } = wish;
  if (faults.length + conflicts.length > 0 || email === undefined || emailKey === undefined || password === undefined) {
    throw new InvalidUser([...faults, ...conflicts], entity);
  }
  const stored = await services.passwords.store(password);
  return inBoxRecorded(services, box, async (connection, note) => {
    const user = { email, emailKey, emailVerified, password: stored, data, status };
    const insert = () => insertUser(connection, box, user);
    const id = await withinQuota(connection, box, insert, (fault) => new InvalidUser([fault], entity));
    if (id === undefined) throw new InvalidUser([taken], entity);
    const missing = await setGroupsOfUser(connection, box, id, groups);
    if (missing.length > 0) throw new InvalidUser([unknownGroups(missing)], entity);
    const created = await readUser(connection, box, id);
    if (created === undefined) throw new Error('a user that was stored is not there');
    for (const event of newUserEvents('user.created', id, groups)) note(event);
    return created;
  });
}
