import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Ajv } from 'ajv';
import type { Static } from 'typebox';
import { allows } from '../../crds/compatibility.ts';
import type { Box } from '../../crds/box.ts';
import { MOST_HINTS, wordHint } from '../../crds/did-you-mean.ts';
import { faultSentence } from '../../crds/fault.ts';
import type { Fault } from '../../crds/fault.ts';
import { isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { schemaFaults } from '../../crds/schema-faults.ts';
import { MOST_GROUPS_OF_USER, refusalTexts } from '../../crds/user-faults.ts';
import { equal } from '../credentials/client-secret.ts';
import type { StoredUser } from '../db/user.ts';
import { Problem } from '../problem.ts';
import { changedUserSchema, newUserSchema } from '../schemas/user.ts';
import type { ListedUser, UserView } from '../schemas/user.ts';
import { emailKey } from '../users/email.ts';
import { passwordFaults } from '../users/password-faults.ts';

/** The part of a submitted user that the caller may see again: never a password, nor an unknown field. */
type SubmittedUser = JsonObject;

/** A submitted user that cannot be stored, with every fault of it. */
export class InvalidUser extends Problem {
  readonly entity: SubmittedUser;

  constructor(faults: readonly Fault[], entity: SubmittedUser) {
    super('invalid', faults);
    this.entity = entity;
  }

  /** Returns the messages by their field; `body` for faults of the whole. */
  get errors(): Readonly<Record<string, readonly string[]>> {
    const grouped = Map.groupBy(this.faults, ({ path }) => fieldOf(path));
    return Object.fromEntries([...grouped].map(([field, faults]) => [field, faults.map(messageOf)]));
  }
}

function fieldOf(path: string): string {
  return path === '' ? 'body' : (path.split(/[.[]/)[0] ?? path);
}

/** Returns the message alone, unless it is about a part of the field. */
function messageOf(fault: Fault): string {
  return fault.path === fieldOf(fault.path) ? fault.message : faultSentence(fault);
}

type UserFields = Static<typeof changedUserSchema>;

/** Names of the fields of a user that can be set. */
export const writableUserFields = Object.keys(newUserSchema.properties);

/** A submission as it was read: the valid fields, and the faults of the others. */
export interface UserDocument {
  /** Email in its normal form, data as its text, each group once. A field that was not given is absent. */
  readonly fields: Omit<UserFields, 'data'> & { readonly data?: string | null };
  readonly faults: readonly Fault[];
  readonly entity: SubmittedUser;
}

/** Fields that the service sets: they are ignored in a new user, so that a user that was read can be created again. */
const setByService: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'meta']);

/**
 * Reads a submitted user in place of `present`, undefined for a new one. A user that was read can
 * be sent back: its hash and its read-only fields, as they are stored, change nothing. `old_password` is a field only
 * if the box demands it for a change of the password.
 */
export async function readUserDocument(value: unknown, settings: Box, present?: StoredUser): Promise<UserDocument> {
  const given = isObject(value) ? Object.entries(value) : [];
  const shown = new Map<string, unknown>(present && Object.entries(listedUser(present)));
  const isUnchanged = ([name, field]: readonly [string, unknown]): boolean => {
    if (present === undefined) return setByService.has(name);
    if (name === 'password') return isStoredHash(field, present);
    return !isWritable(name) && shown.has(name) && isDeepStrictEqual(shown.get(name), field);
  };
  const sent = Object.fromEntries(given.filter((entry) => !isUnchanged(entry)));
  const needsOld = present !== undefined && !allows(settings, 'password_change_without_old');
  const ofChange = present === undefined ? [] : ['end_sessions', ...(needsOld ? ['old_password'] : [])];
  const known = [...writableUserFields, ...ofChange];
  const { fields, faults } = checkFields(
    Object.fromEntries(Object.entries(sent).filter(([name]) => known.includes(name))),
  );
  const { email, password, data, 'group-ids': groups, ...others } = fields;
  const key = email === undefined ? undefined : emailKey(email);
  const read = data === undefined ? undefined : readUserData(data);
  const lacksOld = needsOld && password !== undefined && fields.old_password === undefined;
  return {
    fields: {
      ...others,
      ...(key !== undefined && { email: key }),
      ...(password !== undefined && { password }),
      ...(read && 'text' in read && { data: read.text }),
      ...(groups && { 'group-ids': [...new Set(groups)] }),
    },
    faults: [
      ...unknownFields(Object.keys(sent), known),
      ...(present === undefined ? ['email', 'password'].filter((name) => !(name in sent)).map(requiredFault) : []),
      ...faults,
      ...(email !== undefined && key === undefined ? [{ path: 'email', message: refusalTexts['no-email'] }] : []),
      ...(password === undefined ? [] : await passwordFaults(password, settings)),
      ...(lacksOld ? [{ path: 'old_password', message: 'must be the password that is to be changed' }] : []),
      ...(read && 'faults' in read ? read.faults : []),
    ],
    entity: Object.fromEntries(given.filter(([name]) => name !== 'password' && isWritable(name))),
  };
}

function isWritable(name: string): boolean {
  return writableUserFields.includes(name);
}

/** Checks whether a password is the stored hash of a user, as it was read. */
export function isStoredHash(value: unknown, { password }: StoredUser): boolean {
  return typeof value === 'string' && equal(value, password.hash);
}

function requiredFault(path: string): Fault {
  return { path, message: 'is required' };
}

/** Returns the faults of fields that cannot be set: they are refused, never ignored. */
function unknownFields(names: readonly string[], known: readonly string[]): readonly Fault[] {
  return names
    .filter((name) => !known.includes(name))
    .map((name, nth) => ({
      path: /^[\w-]{1,64}$/.test(name) ? name : 'body',
      message: `is not a field that can be set: those are ${known.join(', ')}${nth < MOST_HINTS ? wordHint(name, known) : ''}`,
    }));
}

const matches = new Ajv({
  validateSchema: false,
  allErrors: true,
  verbose: true,
  ownProperties: true,
}).compile<UserFields>(changedUserSchema);

/** Checks known fields by the schema; returns the valid ones, and the first fault of each other one. */
function checkFields(given: JsonObject): { readonly fields: UserFields; readonly faults: readonly Fault[] } {
  const groups = given['group-ids'];
  // One too many is a fault already: thousands would be described one by one.
  const value = Array.isArray(groups) ? { ...given, 'group-ids': groups.slice(0, MOST_GROUPS_OF_USER + 1) } : given;
  if (matches(value)) return { fields: value, faults: [] };
  const faults = Map.groupBy(schemaFaults(matches.errors ?? [], value), ({ path }) => fieldOf(path));
  const valid = Object.fromEntries(Object.entries(value).filter(([name]) => !faults.has(name)));
  return {
    fields: matches(valid) ? valid : {},
    faults: [...faults].flatMap(([field, [first]]) => (first ? [inOwnWords(first, value[field])] : [])),
  };
}

/** Returns a fault with the sentence for a field of several types, or of one that the admin UI translates. */
function inOwnWords({ path, message }: Fault, value: unknown): Fault {
  switch (path) {
    case 'status': {
      const hint = typeof value === 'string' ? wordHint(value, ['active', 'inactive']) : '';
      return { path, message: `must be active, inactive, or null, which is active${hint}` };
    }
    case 'data':
      return { path, message: 'must be a string that holds JSON, an object, an array, or null' };
    case 'group-ids':
      return { path, message: Array.isArray(value) ? refusalTexts['too-many-groups'] : message };
    default:
      return { path, message };
  }
}

/** Maximum bytes of a user's data: every check of one of the user's tokens carries it. */
const largestData = 65_536;
/** Maximum depth of the data: its readers may recurse. */
const deepestData = 1_000;

/**
 * Returns the JSON text to be stored as a user's `data`: a string that holds JSON is kept byte for byte, with any JSON
 * (RFC 8259); an object or array becomes its JSON text, null is none. Returns the faults instead when it is not JSON,
 * is too large or nests too deep. Of equal names in an object, policies and claims see the last.
 */
function readUserData(value: unknown): { readonly text: string | null } | { readonly faults: readonly Fault[] } {
  if (value === null) return { text: null };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (Buffer.byteLength(text) > largestData) return dataFault(`must have at most ${String(largestData)} bytes`);
  if (parseJson(text) === undefined) return dataFault('must be JSON: it cannot be read');
  if (depthOf(text) > deepestData) return dataFault(`must not nest deeper than ${String(deepestData)} levels`);
  return { text };
}

function dataFault(message: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ path: 'data', message }] };
}

const stringOrBracket = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g;

/** Returns the levels of objects and arrays in a valid JSON text. */
function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [sign] of text.matchAll(stringOrBracket)) {
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Shows a user in a list. */
export function listedUser({
  id,
  email,
  emailVerified,
  data,
  status,
  groups,
  createdAt,
  updatedAt,
}: StoredUser): ListedUser {
  return {
    id,
    email,
    ...(emailVerified === null ? {} : { email_verified: emailVerified }),
    data,
    status,
    'group-ids': groups.map((group) => group.id),
    groups: groups.length === 0 ? null : groups,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}

/** Shows one user: with the hash of the password, unless the box disables that (`compatibility.password_hash`). */
export function userView(row: StoredUser, settings: Box): UserView {
  const { id, email, ...rest } = listedUser(row);
  return { id, email, ...(allows(settings, 'password_hash') ? { password: row.password.hash } : {}), ...rest };
}

/**
 * Returns the version of a user, which changes with each field of its record. It is a digest of the record, so a group
 * that is renamed changes the version of its members.
 */
export function userVersion(row: StoredUser): string {
  return hash('sha256', JSON.stringify([listedUser(row), row.password.hash]), 'base64url').slice(0, 22);
}
