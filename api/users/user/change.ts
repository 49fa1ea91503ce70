import { refusalTexts } from '../../../crds/user-faults.ts';
import { bumpVersion } from '../../db/box/box.ts';
import { inBoxRecorded } from '../../audit/recorded.ts';
import type { NoteEvent } from '../../audit/recorded.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { lockUser, readUser } from '../../db/user/user.ts';
import type { StoredPassword, StoredUser } from '../../db/user/user.ts';
import { endUserSessions, setGroupsOfUser, updateUser } from '../../db/user/user-write.ts';
import { changing } from '../../records/write/change.ts';
import { ChangedMeanwhile } from '../../records/write/confirm-changes.ts';
import type { WriteConditions } from '../../records/write/confirm-changes.ts';
import { demandPreconditions } from '../../records/write/etag.ts';
import type { Sharer } from '../../shares/fair-queue.ts';
import type { BoxState } from '../../box/box-state.ts';
import { changedUserFields } from './changed-user-fields.ts';
import { InvalidUser } from './invalid-user.ts';
import type { SubmittedUser } from './invalid-user.ts';
import type { UserServices } from '../services.ts';
import { userChangeEvents } from './user-events.ts';
import { conflictsOf, taken, unknownGroups } from './user-conflicts.ts';
import { readUserSubmission } from './submission.ts';
import type { UserWish } from './submission.ts';
import { userVersion } from './view.ts';
import { Problem } from '../../problem.ts';

/**
 * Verifies the present password of a user with `verify`, within the limits on failures. Throws Problem `throttled`,
 * Outage, and the errors of `verify`.
 */
export type GuessPassword = (user: StoredUser, verify: (sharer: Sharer) => Promise<boolean>) => Promise<boolean>;

/** A change of a user, as it was requested. */
export interface RequestedUserChange extends WriteConditions {
  readonly id: number;
  readonly value: unknown;
  /** ID of the user whose token makes the change; undefined for the token of a client, or none. */
  readonly by: number | undefined;
}

/**
 * Changes the given fields of a user. A new password and `inactive` end all that the user has begun, in the same
 * transaction, and another email is not verified. A change that changes nothing writes nothing. Undefined when there is
 * no such user. Throws InvalidUser with every fault at once, Problem `precondition-failed` or `forbidden`,
 * ChangedMeanwhile, Outage, and the errors of `guess`: the present password is a guess if the box demands it.
 */
export async function changeUser(
  services: UserServices,
  { box, settings }: Pick<BoxState, 'box' | 'settings'>,
  { id, value, by, preconditions, confirmChanges }: RequestedUserChange,
  guess: GuessPassword,
): Promise<StoredUser | undefined> {
  const user = await inBox(services.pool, box, 'snapshot', (connection) => readUser(connection, box, id));
  if (user === undefined) return undefined;
  const isOwn = by === id;
  refuseOwnVerification({ changes: changedUserFields(user, value), isOwn });
  const { wish, faults, entity } = await readUserSubmission(value, user, settings);
  const conflicts = await inBox(services.pool, box, 'snapshot', (connection) => conflictsOf(connection, box, wish, id));
  const wrong = await oldPasswordFaults(services, user, wish, guess);
  const all = [...faults, ...conflicts, ...wrong];
  if (all.length > 0) throw new InvalidUser(all, entity);
  const password = wish.password === undefined ? undefined : await services.passwords.store(wish.password);
  const store = async (connection: Connection, note: NoteEvent) => {
    // The lock holds the fields of the user still until they are stored.
    const present = await lockUser(connection, box, id);
    if (present === undefined) return undefined;
    const changes = changedUserFields(present, value);
    confirmChanges?.(() => changes);
    demandPreconditions(preconditions, userVersion(present));
    refuseOwnVerification({ changes, isOwn });
    // What is said about an email is about the one that was read, and so is the password that was proved.
    if (present.email !== user.email || isOutdated(wish, user, present)) throw new ChangedMeanwhile();
    if (changes.length === 0) return present;
    const emailVerified = verifiedAfter({ changes, isOwn }, wish.emailVerified);
    const stored = await storeChange(connection, { box, id, wish, emailVerified, password, entity });
    const changed = withVerification(changes, present, stored);
    for (const event of userChangeEvents(present, changed, wish.groups)) note(event);
    return stored;
  };
  // Only a change that ends sessions concerns the configuration of the box.
  return endsSessions(wish) ? changing(services, box, store) : inBoxRecorded(services, box, store);
}

/** Returns the fields that changed in a record: another email, or an approval, changes `email_verified` as well. */
function withVerification(
  changes: readonly string[],
  before: StoredUser,
  after: StoredUser | undefined,
): readonly string[] {
  const isSame = after === undefined || after.emailVerified === before.emailVerified;
  return isSame || changes.includes('email_verified') ? changes : [...changes, 'email_verified'].sort();
}

async function oldPasswordFaults(
  { passwords }: UserServices,
  user: StoredUser,
  { oldPassword }: UserWish,
  guess: GuessPassword,
) {
  if (oldPassword === undefined) return [];
  if (await guess(user, (sharer) => passwords.verify(user.password, oldPassword, sharer))) return [];
  return [{ path: 'old_password', message: refusalTexts['wrong-password'] }];
}

/** Checks whether the proved password of a user was replaced since. */
function isOutdated({ oldPassword }: UserWish, before: StoredUser, now: StoredUser): boolean {
  return oldPassword !== undefined && before.password.hash !== now.password.hash;
}

interface Change {
  readonly box: string;
  readonly id: number;
  readonly wish: UserWish;
  readonly emailVerified: boolean | null | undefined;
  readonly password: StoredPassword | undefined;
  readonly entity: SubmittedUser;
}

async function storeChange(connection: Connection, change: Change): Promise<StoredUser | undefined> {
  const { box, id, wish, emailVerified, password, entity } = change;
  const { email, emailKey, data, status, groups } = wish;
  const user = await updateUser(connection, box, id, {
    ...(email !== undefined && emailKey !== undefined && { email, emailKey }),
    ...(emailVerified !== undefined && { emailVerified }),
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

/** A change of a user: the fields that it changes, and whether the user's own token makes it. */
interface ValidatedChange {
  readonly changes: readonly string[];
  readonly isOwn: boolean;
}

/** Throws Problem `forbidden` if a user's own token would say whether the email of this user is verified. */
export function refuseOwnVerification({ changes, isOwn }: ValidatedChange): void {
  if (!isOwn || !changes.includes('email_verified')) return;
  const message = 'cannot be set with a token of the same user: leave it out, or ask an administrator';
  throw new Problem('forbidden', [{ path: 'email_verified', message }]);
}

/**
 * Returns `email_verified` after a change: as it is `given`; otherwise false for another email from the user's own
 * token, and null (absent) for one from somebody else. Undefined: it stays.
 */
export function verifiedAfter(
  { changes, isOwn }: ValidatedChange,
  given: boolean | undefined,
): boolean | null | undefined {
  if (given !== undefined) return given;
  if (!changes.includes('email')) return undefined;
  return isOwn ? false : null;
}
