import { allows } from '../../crds/compatibility.ts';
import type { Box } from '../../crds/box.ts';
import type { Fault } from '../../crds/fault.ts';
import type { UserStatus } from '../db/user.ts';
import { emailKey } from './email.ts';
import type { SubmittedUser } from './invalid-user.ts';
import { passwordFaults } from './password-faults.ts';
import { readUserData } from './user-data.ts';

/** What a caller wants a user to be; what was not given is left out. */
export interface UserWish {
  readonly email?: string;
  /** Normal form of the email. */
  readonly emailKey?: string;
  readonly password?: string;
  /** The password before it, where the box demands it for a change (OWASP ASVS 5.0, 6.2.3). */
  readonly oldPassword?: string;
  readonly data?: string | null;
  readonly status?: UserStatus;
  /** Each once. */
  readonly groups?: readonly number[];
}

/** A submission as it was read: the fields that are right, and what is wrong with the others. */
export interface ReadUser {
  readonly wish: UserWish;
  readonly faults: readonly Fault[];
  /** What an answer may repeat. */
  readonly entity: SubmittedUser;
}

const writable = ['email', 'password', 'data', 'status', 'group-ids'] as const;
const mostGroups = 1000;

/** Reads a submitted user; `old_password` is a field only where the box wants it for a change of the password. */
export async function readUserSubmission(value: unknown, how: 'create' | 'change', settings: Box): Promise<ReadUser> {
  const fields = new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  const needsOld = how === 'change' && !allows(settings, 'password_change_without_old');
  const parts: Part[] = [
    { faults: unknownFields(fields, needsOld) },
    readEmail(fields.get('email'), how),
    await readPassword(fields.get('password'), how, settings),
    ...(needsOld ? [readOldPassword(fields)] : []),
    readData(fields.get('data')),
    readStatus(fields.get('status')),
    readGroups(fields.get('group-ids')),
  ];
  return {
    wish: parts.reduce<UserWish>((all, { wish }) => ({ ...all, ...wish }), {}),
    faults: parts.flatMap(({ faults }) => faults ?? []),
    entity: Object.fromEntries([...fields].filter(([name]) => name !== 'password' && isWritable(name))),
  };
}

interface Part {
  readonly wish?: UserWish;
  readonly faults?: readonly Fault[];
}

function isWritable(name: string): boolean {
  return writable.some((one) => one === name);
}

/** What cannot be set is refused, never ignored. */
function unknownFields(fields: ReadonlyMap<string, unknown>, needsOld: boolean): readonly Fault[] {
  const known = needsOld ? [...writable, 'old_password'] : writable;
  return [...fields.keys()]
    .filter((name) => !known.some((one) => one === name))
    .map((name) => ({
      path: /^[\w-]{1,64}$/.test(name) ? name : 'body',
      message: `is not a field that can be set: those are ${known.join(', ')}`,
    }));
}

function readEmail(value: unknown, how: 'create' | 'change'): Part {
  const fault = (message: string): Part => ({ faults: [{ path: 'email', message }] });
  if (value === undefined) return how === 'create' ? fault('is required') : {};
  if (typeof value !== 'string') return fault('must be a string');
  const key = emailKey(value);
  return key === undefined
    ? fault('must be an email, such as ann@example.com')
    : { wish: { email: value, emailKey: key } };
}

async function readPassword(value: unknown, how: 'create' | 'change', settings: Box): Promise<Part> {
  if (value === undefined) return how === 'create' ? { faults: [{ path: 'password', message: 'is required' }] } : {};
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
  return { faults: [{ path: 'status', message: 'must be active, inactive, or null, which is active' }] };
}

function readGroups(value: unknown): Part {
  if (value === undefined) return {};
  const isList = Array.isArray(value) && value.length <= mostGroups && value.every(isGroupId);
  if (isList) return { wish: { groups: [...new Set(value)] } };
  return { faults: [{ path: 'group-ids', message: `must be a list of at most ${String(mostGroups)} ids of groups` }] };
}

function isGroupId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
