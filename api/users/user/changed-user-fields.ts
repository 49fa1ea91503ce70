import type { JsonObject } from '../../../crds/path.ts';
import { isObject } from '../../../crds/path.ts';
import { equal } from '../../credentials/client-secret.ts';
import type { StoredUser } from '../../db/user/user.ts';
import { differingFields } from '../../records/write/changed-fields.ts';
import { emailKey } from './email.ts';
import { readUserData } from './user-data.ts';
import { writableUserFields } from './submission.ts';

/**
 * Returns the names of the fields that a submission would change of a user; `user` is undefined when there is none yet.
 * A password is a change unless it is the stored hash: the present password in clear is stored with another hash and
 * ends sessions as well. With another email `email_verified` is a change, whatever is stored: it is about the new
 * email.
 */
export function changedUserFields(user: StoredUser | undefined, value: unknown): readonly string[] {
  const given = new Map(isObject(value) ? Object.entries(value) : []);
  const names = writableUserFields.filter((name) => given.has(name) && !isAsStored(name, user, given));
  const changed = differingFields(comparable(user), wished(given), names);
  const isAboutNewEmail = changed.includes('email') && given.has('email_verified');
  return isAboutNewEmail ? [...new Set([...changed, 'email_verified'])].sort() : changed;
}

/** An email that is not in its normal form was stored by an older release, and stays when it is sent back. */
function isAsStored(name: string, user: StoredUser | undefined, given: ReadonlyMap<string, unknown>): boolean {
  const value = given.get(name);
  if (typeof value !== 'string' || user === undefined) return false;
  if (name === 'email') return value === user.email;
  return name === 'password' && equal(value, user.password.hash);
}

function comparable(user: StoredUser | undefined): JsonObject {
  if (user === undefined) return { data: null, status: null, 'group-ids': new Set() };
  const { email, emailVerified, data, status, groups } = user;
  return { email, email_verified: emailVerified, data, status, 'group-ids': new Set(groups.map(({ id }) => id)) };
}

/** Returns the fields in stored form: the normal form of emails, groups as a set, the data as its text. */
function wished(given: ReadonlyMap<string, unknown>): JsonObject {
  const [email, groups] = [given.get('email'), given.get('group-ids')];
  return {
    ...Object.fromEntries(given),
    ...(given.has('data') && { data: textOf(given.get('data')) }),
    ...(typeof email === 'string' && { email: emailKey(email) ?? email }),
    ...(Array.isArray(groups) && { 'group-ids': new Set(groups) }),
  };
}

function textOf(data: unknown): unknown {
  const read = readUserData(data);
  return 'text' in read ? read.text : data;
}
