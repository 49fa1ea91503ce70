import { isDeepStrictEqual } from 'node:util';
import { allows } from '../../../crds/compatibility.ts';
import type { Box } from '../../../crds/box.ts';
import { MOST_HINTS, wordHint } from '../../../crds/did-you-mean.ts';
import { MOST_GROUPS_OF_USER, refusalTexts } from '../../../crds/user-faults.ts';
import type { Fault } from '../../../crds/fault.ts';
import { equal } from '../../credentials/client-secret.ts';
import type { StoredUser, UserStatus } from '../../db/user/user.ts';
import { emailKey } from './email.ts';
import type { SubmittedUser } from './invalid-user.ts';
import { passwordFaults } from './password-faults.ts';
import { readUserData } from './user-data.ts';
import { listedUser } from './view.ts';

/** Requested fields of a user; fields that were not given are left out. */
export interface UserWish {
  readonly email?: string;
  /** Normal form of the email. */
  readonly emailKey?: string;
  readonly emailVerified?: boolean;
  readonly password?: string;
  /** The present password, where the box demands it for a change (OWASP ASVS 5.0, 6.2.3). */
  readonly oldPassword?: string;
  readonly data?: string | null;
  readonly status?: UserStatus;
  /** IDs of groups, each once. */
  readonly groups?: readonly number[];
}

/** A submission as it was read: the valid fields, and the faults of the others. */
export interface ReadUser {
  readonly wish: UserWish;
  readonly faults: readonly Fault[];
  /** Part that an answer may repeat. */
  readonly entity: SubmittedUser;
}

/** Names of the fields of a user that can be set. */
export const writableUserFields = ['email', 'email_verified', 'password', 'data', 'status', 'group-ids'] as const;

/**
 * Reads a submitted user; `present` is the user to be changed, undefined where one is created. A user that was read can
 * be sent back: its hash and its read-only fields, as they are stored, change nothing. `old_password` is a field only
 * if the box demands it for a change of the password.
 */
export async function readUserSubmission(
  value: unknown,
  present: StoredUser | undefined,
  settings: Box,
): Promise<ReadUser> {
  const given = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const fields = new Map(given.filter(([name, field]) => !isAsStored(name, field, present)));
  const needsOld = present !== undefined && !allows(settings, 'password_change_without_old');
  const parts: Part[] = [
    { faults: unknownFields(fields, needsOld) },
    readEmail(fields.get('email'), present),
    readEmailVerified(fields.get('email_verified')),
    await readPassword(fields.get('password'), present, settings),
    ...(needsOld ? [readOldPassword(fields)] : []),
    readData(fields.get('data')),
    readStatus(fields.get('status')),
    readGroups(fields.get('group-ids')),
  ];
  return {
    wish: parts.reduce<UserWish>((all, { wish }) => ({ ...all, ...wish }), {}),
    faults: parts.flatMap(({ faults }) => faults ?? []),
    entity: Object.fromEntries(given.filter(([name]) => name !== 'password' && isWritable(name))),
  };
}

function isAsStored(name: string, value: unknown, present: StoredUser | undefined): boolean {
  if (present === undefined) return false;
  if (name === 'email') return value === present.email;
  if (name === 'password') return typeof value === 'string' && equal(value, present.password.hash);
  const shown = new Map(Object.entries(listedUser(present)));
  return !isWritable(name) && shown.has(name) && isDeepStrictEqual(shown.get(name), value);
}

interface Part {
  readonly wish?: UserWish;
  readonly faults?: readonly Fault[];
}

function isWritable(name: string): boolean {
  return writableUserFields.some((one) => one === name);
}

/** Returns the faults of fields that cannot be set: they are refused, never ignored. */
function unknownFields(fields: ReadonlyMap<string, unknown>, needsOld: boolean): readonly Fault[] {
  const known = needsOld ? [...writableUserFields, 'old_password'] : writableUserFields;
  return [...fields.keys()]
    .filter((name) => !known.some((one) => one === name))
    .map((name, nth) => ({
      path: /^[\w-]{1,64}$/.test(name) ? name : 'body',
      message: `is not a field that can be set: those are ${known.join(', ')}${nth < MOST_HINTS ? wordHint(name, known) : ''}`,
    }));
}

function readEmail(value: unknown, present: StoredUser | undefined): Part {
  const fault = (message: string): Part => ({ faults: [{ path: 'email', message }] });
  if (value === undefined) return present === undefined ? fault('is required') : {};
  if (typeof value !== 'string') return fault('must be a string');
  const key = emailKey(value);
  return key === undefined ? fault(refusalTexts['no-email']) : { wish: { email: key, emailKey: key } };
}

function readEmailVerified(value: unknown): Part {
  if (value === undefined) return {};
  if (typeof value === 'boolean') return { wish: { emailVerified: value } };
  return { faults: [{ path: 'email_verified', message: 'must be true or false; leave it out if it is not known' }] };
}

async function readPassword(value: unknown, present: StoredUser | undefined, settings: Box): Promise<Part> {
  if (value === undefined) {
    return present === undefined ? { faults: [{ path: 'password', message: 'is required' }] } : {};
  }
  const faults = await passwordFaults(value, settings);
  return faults.length === 0 && typeof value === 'string' ? { wish: { password: value } } : { faults };
}

function readOldPassword(fields: ReadonlyMap<string, unknown>): Part {
  const value = fields.get('old_password');
  if (typeof value === 'string') return { wish: { oldPassword: value } };
  if (value === undefined && !fields.has('password')) return {};
  return { faults: [{ path: 'old_password', message: 'must be the password that is to be changed' }] };
}

function readData(value: unknown): Part {
  if (value === undefined) return {};
  const read = readUserData(value);
  return 'text' in read ? { wish: { data: read.text } } : read;
}

function readStatus(value: unknown): Part {
  if (value === undefined) return {};
  if (value === null || value === 'active' || value === 'inactive') return { wish: { status: value } };
  const hint = typeof value === 'string' ? wordHint(value, ['active', 'inactive']) : '';
  return { faults: [{ path: 'status', message: `must be active, inactive, or null, which is active${hint}` }] };
}

function readGroups(value: unknown): Part {
  if (value === undefined) return {};
  const ids = Array.isArray(value) && value.every(isGroupId) ? [...new Set(value)] : undefined;
  if (ids === undefined) return { faults: [{ path: 'group-ids', message: 'must be a list of ids of groups' }] };
  if (ids.length <= MOST_GROUPS_OF_USER) return { wish: { groups: ids } };
  return { faults: [{ path: 'group-ids', message: refusalTexts['too-many-groups'] }] };
}

function isGroupId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
