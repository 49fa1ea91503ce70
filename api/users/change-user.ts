import type { Box } from '../../crds/box.ts';
import { bumpVersion } from '../db/box.ts';
import { inBox } from '../db/transaction.ts';
import type { Connection } from '../db/transaction.ts';
import { readUser } from '../db/user.ts';
import type { StoredPassword, StoredUser } from '../db/user.ts';
import { endUserSessions, setGroupsOfUser, updateUser } from '../db/user-write.ts';
import { changing } from '../resources/change.ts';
import { InvalidUser } from './invalid-user.ts';
import type { SubmittedUser } from './invalid-user.ts';
import type { UserServices } from './services.ts';
import { conflictsOf, taken, unknownGroups } from './user-conflicts.ts';
import { readUserSubmission } from './user-submission.ts';
import type { UserWish } from './user-submission.ts';

/**
 * Verifies the password of the user with this email as `verify` does, and holds back who fails too often. Throws Problem
 * `throttled`, and what `verify` throws.
 */
export type GuessPassword = (email: string, verify: () => Promise<boolean>) => Promise<boolean>;

/**
 * Changes the fields of a user that are given. A new password and `inactive` end all that the user has begun, in the same
 * transaction. Undefined when there is no such user. Throws InvalidUser with every fault at once, Outage, and
 * what `guess` throws: the present password counts as a guess where the box demands it.
 */
export async function changeUser(
  services: UserServices,
  box: string,
  settings: Box,
  id: number,
  value: unknown,
  guess: GuessPassword,
): Promise<StoredUser | undefined> {
  const { wish, faults, entity } = await readUserSubmission(value, 'change', settings);
  const found = await inBox(services.pool, box, 'snapshot', async (connection) => {
    const user = await readUser(connection, box, id);
    return user && { user, conflicts: await conflictsOf(connection, box, wish, id) };
  });
  if (found === undefined) return undefined;
  const wrong = await oldPasswordFaults(services, found.user, wish, guess);
  const all = [...faults, ...found.conflicts, ...wrong];
  if (all.length > 0) throw new InvalidUser(all, entity);
  const password = wish.password === undefined ? undefined : await services.passwords.store(wish.password);
  const store = (connection: Connection) => storeChange(connection, { box, id, wish, password, entity });
  // Only what ends sessions concerns the configuration of the box.
  return endsSessions(wish) ? changing(services, box, store) : inBox(services.pool, box, 'write', store);
}

async function oldPasswordFaults(
  { passwords }: UserServices,
  user: StoredUser,
  { oldPassword }: UserWish,
  guess: GuessPassword,
) {
  if (oldPassword === undefined) return [];
  if (await guess(user.email, () => passwords.verify(user.password, oldPassword))) return [];
  return [{ path: 'old_password', message: 'is not the password of this user' }];
}

interface Change {
  readonly box: string;
  readonly id: number;
  readonly wish: UserWish;
  readonly password: StoredPassword | undefined;
  readonly entity: SubmittedUser;
}

async function storeChange(connection: Connection, change: Change): Promise<StoredUser | undefined> {
  const { box, id, wish, password, entity } = change;
  const { email, emailKey, data, status, groups } = wish;
  const user = await updateUser(connection, box, id, {
    ...(email !== undefined && emailKey !== undefined && { email, emailKey }),
    ...(data !== undefined && { data }),
    ...(status !== undefined && { status }),
    ...(password && { password }),
  });
  if (user === 'taken') throw new InvalidUser([taken], entity);
  if (user === undefined) return undefined;
  const missing = groups === undefined ? [] : await setGroupsOfUser(connection, box, id, groups);
  if (missing.length > 0) throw new InvalidUser([unknownGroups(missing)], entity);
  if (endsSessions(wish)) await endUserSessions(connection, box, await bumpVersion(connection, box), id);
  return readUser(connection, box, id);
}

function endsSessions({ password, status }: UserWish): boolean {
  return password !== undefined || status === 'inactive';
}
