import type { Fault } from '../../crds/fault.ts';
import { isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { refusalTexts } from '../../crds/user-faults.ts';
import { inBoxRecorded } from '../audit/recorded.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import { bumpVersion } from '../db/box/box.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { lockUserRow, missingGroups, readUser, userOfEmail } from '../db/user.ts';
import type { StoredPassword, StoredUser } from '../db/user.ts';
import { endUserSessions, insertUser, setGroupsOfUser, updateUser } from '../db/user-write.ts';
import { Problem } from '../problem.ts';
import { emailKey } from '../users/email.ts';
import { newUserEvents, userChangeEvents } from '../users/user-events.ts';
import type { Caller, ChangeOfRecord } from './record.ts';
import type { ResourceServices } from './services.ts';
import { InvalidUser, isStoredHash, readUserDocument, userVersion, writableUserFields } from './user-document.ts';
import type { UserDocument } from './user-document.ts';
import { changingRights, withinQuota } from './write/change.ts';
import { differingFields } from './write/changed-fields.ts';
import { ChangedMeanwhile, demandPreconditions } from './write/conditions.ts';

/**
 * Creates a user. Throws InvalidUser with every fault of the document and every conflict with the box at once, and
 * Outage (also when too many passwords wait).
 */
export async function createUser(
  services: ResourceServices,
  box: string,
  value: unknown,
  { settings }: Caller,
): Promise<StoredUser> {
  const document = await readUserDocument(value, settings);
  const { fields, faults, entity } = document;
  // Before the password is hashed, which costs a hundred times as much.
  const all = [...faults, ...(await conflictsOf(services, box, document))];
  const { email, email_verified: emailVerified = null, data = null, status = null, 'group-ids': groups = [] } = fields;
  if (all.length > 0 || email === undefined || fields.password === undefined) throw new InvalidUser(all, entity);
  const password = await services.passwords.store(fields.password);
  return inBoxRecorded(services, box, async (connection, note) => {
    const row = { email, emailKey: email, emailVerified, password, data, status };
    const insert = () => insertUser(connection, box, row);
    const id = await withinQuota(connection, box, insert, (fault) => new InvalidUser([fault], entity));
    if (id === undefined) throw new InvalidUser([taken], entity);
    const missing = await setGroupsOfUser(connection, box, id, groups);
    if (missing.length > 0) throw new InvalidUser([unknownGroups(missing)], entity);
    for (const event of newUserEvents('user.created', id, groups)) note(event);
    return storedUser(connection, box, id);
  });
}

async function storedUser(connection: Connection, box: string, id: number): Promise<StoredUser> {
  const row = await readUser(connection, box, id);
  if (row === undefined) throw new Error(`user ${String(id)} was stored, and is not there`);
  return row;
}

/**
 * Changes the given fields of a user. A new password, `inactive` and `end_sessions` end all that the user has begun,
 * in the same transaction, and another email is not verified. A change that changes nothing writes nothing. Undefined
 * when there is no such user. Throws InvalidUser with every fault at once, Problem `precondition-failed` or
 * `forbidden`, ChangedMeanwhile, Outage, and the errors of a guess: the present password is one if the box demands it.
 */
export async function changeUser(
  services: ResourceServices,
  box: string,
  { id, requested: { value }, caller, preconditions, confirmChanges }: ChangeOfRecord<number>,
): Promise<StoredUser | undefined> {
  const before = await inBox(services.pool, box, 'snapshot', (connection) => readUser(connection, box, id));
  if (before === undefined) return undefined;
  const isOwn = caller.user === id;
  refuseOwnVerification({ changes: changedUserFields(before, value), isOwn });
  const document = await readUserDocument(value, caller.settings, before);
  const { fields, entity } = document;
  const conflicts = await conflictsOf(services, box, document, id);
  const all = [...document.faults, ...conflicts, ...(await oldPasswordFaults(services, before, fields, caller))];
  if (all.length > 0) throw new InvalidUser(all, entity);
  const password = fields.password === undefined ? undefined : await services.passwords.store(fields.password);
  const store = async (connection: Connection, note: NoteEvent): Promise<StoredUser | undefined> => {
    // The lock holds the row still until it is stored.
    const present = (await lockUserRow(connection, box, id)) ? await readUser(connection, box, id) : undefined;
    if (present === undefined) return undefined;
    const changes = changedUserFields(present, value);
    confirmChanges?.(() => changes);
    demandPreconditions(preconditions, userVersion(present));
    refuseOwnVerification({ changes, isOwn });
    // What is said about an email is about the one that was read, and so is the password that was proved.
    const isProved = fields.old_password === undefined || before.password.hash === present.password.hash;
    if (present.email !== before.email || !isProved) throw new ChangedMeanwhile();
    if (changes.length === 0) return present;
    const emailVerified = verifiedAfter({ changes, isOwn }, fields.email_verified);
    const row = await storeChange(connection, box, id, { document, emailVerified, password });
    // Another email, or an approval, changes `email_verified` as well.
    const verified = row.emailVerified === present.emailVerified ? [] : ['email_verified'];
    const changed = [...new Set([...changes, ...verified])].sort();
    for (const event of userChangeEvents(present, changed, fields['group-ids'])) note(event);
    return row;
  };
  // Any other change ends no session and takes no rights: it needs no lock of the box.
  const takesRights = endsAll(fields) || fields['group-ids'] !== undefined;
  return (takesRights ? changingRights : inBoxRecorded)(services, box, store);
}

/** Checks whether a change ends all that the user has begun. */
function endsAll({ password, status, end_sessions }: UserDocument['fields']): boolean {
  return password !== undefined || status === 'inactive' || end_sessions === true;
}

async function oldPasswordFaults(
  { passwords }: ResourceServices,
  row: StoredUser,
  { old_password: typed }: UserDocument['fields'],
  { guessPassword }: Caller,
): Promise<readonly Fault[]> {
  if (typed === undefined) return [];
  if (await guessPassword(row, (sharer) => passwords.verify(row.password, typed, sharer))) return [];
  return [{ path: 'old_password', message: refusalTexts['wrong-password'] }];
}

interface Change {
  readonly document: UserDocument;
  readonly emailVerified: boolean | null | undefined;
  readonly password: StoredPassword | undefined;
}

async function storeChange(
  connection: Connection,
  box: string,
  id: number,
  { document: { fields, entity }, emailVerified, password }: Change,
): Promise<StoredUser> {
  const { email, data, status, 'group-ids': groups } = fields;
  const updated = await updateUser(connection, box, id, {
    ...(email !== undefined && { email, emailKey: email }),
    ...(emailVerified !== undefined && { emailVerified }),
    ...(data !== undefined && { data }),
    ...(status !== undefined && { status }),
    ...(password && { password }),
  });
  if (updated === 'taken') throw new InvalidUser([taken], entity);
  const missing = groups === undefined ? [] : await setGroupsOfUser(connection, box, id, groups);
  if (missing.length > 0) throw new InvalidUser([unknownGroups(missing)], entity);
  if (endsAll(fields)) {
    await endUserSessions(connection, box, await bumpVersion(connection, box), id);
  }
  return storedUser(connection, box, id);
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

/**
 * Returns the names of the fields that a submission would change of a user; `user` is undefined when there is none yet.
 * A password is a change unless it is the stored hash: the present password in clear is stored with another hash and
 * ends sessions as well. With another email `email_verified` is a change, whatever is stored: it is about the new
 * email.
 */
export function changedUserFields(user: StoredUser | undefined, value: unknown): readonly string[] {
  const given = new Map(isObject(value) ? Object.entries(value) : []);
  if (user !== undefined && isStoredHash(given.get('password'), user)) given.delete('password');
  const names = writableUserFields.filter((name) => given.has(name));
  const changed = differingFields(comparable(user), inStoredForm(given), names);
  const isAboutNewEmail = changed.includes('email') && given.has('email_verified');
  const endsSessions = user !== undefined && given.get('end_sessions') === true;
  const more = [...(isAboutNewEmail ? ['email_verified'] : []), ...(endsSessions ? ['end_sessions'] : [])];
  return [...new Set([...changed, ...more])].sort();
}

function comparable(user: StoredUser | undefined): JsonObject {
  if (user === undefined) return { data: null, status: null, 'group-ids': new Set() };
  const { email, emailVerified, data, status, groups } = user;
  return { email, email_verified: emailVerified, data, status, 'group-ids': new Set(groups.map(({ id }) => id)) };
}

/** Returns the fields in stored form: the normal form of emails, groups as a set, the data as its text. */
function inStoredForm(given: ReadonlyMap<string, unknown>): JsonObject {
  const [email, groups, data] = [given.get('email'), given.get('group-ids'), given.get('data')];
  const isOther = typeof data === 'object' && data !== null;
  return {
    ...Object.fromEntries(given),
    ...(isOther && { data: JSON.stringify(data) }),
    ...(typeof email === 'string' && { email: emailKey(email) ?? email }),
    ...(Array.isArray(groups) && { 'group-ids': new Set(groups) }),
  };
}

/** Fault of an email that another user has. */
const taken: Fault = { path: 'email', message: refusalTexts.taken };

/** Returns the fault of groups that do not exist. */
function unknownGroups(ids: readonly number[]): Fault {
  return { path: 'group-ids', message: `must be groups of this box: there is no group ${ids.join(', ')}` };
}

/** Returns the conflicts of a document with the box as it is now; `self` is the user to be changed. */
function conflictsOf(
  { pool }: ResourceServices,
  box: string,
  { fields: { email, 'group-ids': groups = [] } }: UserDocument,
  self?: number,
): Promise<readonly Fault[]> {
  return inBox(pool, box, 'snapshot', async (connection) => {
    const owner = email === undefined ? undefined : await userOfEmail(connection, box, email);
    const missing = groups.length === 0 ? [] : await missingGroups(connection, box, groups);
    return [
      ...(owner === undefined || owner === self ? [] : [taken]),
      ...(missing.length === 0 ? [] : [unknownGroups(missing)]),
    ];
  });
}
