import { isObject } from '../../crds/path.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import type { Box } from '../../crds/box.ts';
import type { Passwords } from '../credentials/password.ts';
import { lockUse } from '../db/box/box-use.ts';
import { bumpVersion, lockVersion } from '../db/box/box.ts';
import type { Connections } from '../db/core/pool.ts';
import { readResource } from '../db/resource/resource.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { StoredPassword } from '../db/user.ts';
import { readUser, userOfEmail } from '../db/user.ts';
import { endUserSessions, insertUser, setGroupsOfUser, updateUser } from '../db/user-write.ts';
import { changing } from '../records/write/change.ts';
import { emailKey } from './email.ts';
import { allowAdmins, groupOfAdmins } from './admins.ts';
import { newUserEvents, userChangeEvents } from './user-events.ts';
import { passwordFaults } from './password-faults.ts';

/** An administrator who needs access to a box again. */
export interface AdminToReset {
  readonly box: string;
  readonly email: string;
  readonly password: string;
}

/** The parts of the process that a reset needs. */
export interface ResetServices {
  readonly trail: AuditTrail;
  readonly pool: Connections;
  readonly passwords: Passwords;
  readonly revocationsNeedStandby: boolean;
}

/**
 * Gives a user a new password and the rights of an administrator: active, in the group `admins`, and the policy
 * `admins` if it is missing. Everything that the user had begun ends. A missing user is created. Resolves to true if
 * one was created, undefined if there is no such box. Throws an Error of one sentence about a wrong argument, Moved,
 * and Outage.
 */
export async function resetAdmin(
  services: ResetServices,
  { box, email, password }: AdminToReset,
): Promise<boolean | undefined> {
  const key = emailKey(email);
  if (key === undefined) throw new Error(`${JSON.stringify(email)} is not an email`);
  const isThere = await inBox(services.pool, box, 'write', (connection) => lockVersion(connection, box));
  if (isThere === undefined) return undefined;
  const settings = await inBox(services.pool, box, 'snapshot', (connection) => settingsOf(connection, box));
  const [fault] = await passwordFaults(password, settings);
  if (fault !== undefined) throw new Error(`The password on standard input ${fault.message}`);
  const stored = await services.passwords.store(password);
  return changing(services, box, (connection, note) => store({ connection, note }, box, key, stored));
}

interface Recording {
  readonly connection: Connection;
  readonly note: NoteEvent;
}

async function store(
  { connection, note }: Recording,
  box: string,
  key: string,
  password: StoredPassword,
): Promise<boolean> {
  await lockUse(connection, box);
  const version = await bumpVersion(connection, box);
  const admins = await groupOfAdmins(connection, box, version, note);
  await allowAdmins(connection, box, version, note);
  const found = await userOfEmail(connection, box, key);
  const present = found === undefined ? undefined : await readUser(connection, box, found);
  if (present === undefined) {
    const user = { email: key, emailKey: key, emailVerified: null, password, data: null, status: null };
    const made = await insertUser(connection, box, user);
    if (made === undefined) throw new Error('Somebody registered with this email just now: run the command again');
    await setGroupsOfUser(connection, box, made, [admins]);
    for (const event of newUserEvents('user.created', made, [admins])) note(event);
    return true;
  }
  await updateUser(connection, box, present.id, { password, status: 'active' });
  const groups = [...new Set([...present.groups.map(({ id }) => id), admins])];
  await setGroupsOfUser(connection, box, present.id, groups);
  const changed = present.status === 'inactive' ? ['password', 'status'] : ['password'];
  for (const event of userChangeEvents(present, changed, groups)) note(event);
  await endUserSessions(connection, box, version, present.id);
  return false;
}

/** Returns only those settings of a box that passwords are checked against. */
async function settingsOf(connection: Connection, box: string): Promise<Box> {
  const row = await readResource(connection, box, { kind: 'Box', id: box });
  const password = row?.body['password'];
  const least = isObject(password) ? password['min_length'] : undefined;
  return { resourceType: 'Box', id: box, ...(typeof least === 'number' ? { password: { min_length: least } } : {}) };
}
