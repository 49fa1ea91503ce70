import { listingOf } from './core/listing.ts';
import { millisecondsOf } from './hot/statement.ts';
import type { Connection } from './core/transaction.ts';

/** A user as requests see it, with its current groups. */
export interface Person {
  readonly id: number;
  /** The email as given. */
  readonly email: string;
  /** Null: an administrator gave the email, and nobody says whether it is verified. */
  readonly email_verified: boolean | null;
  /** JSON text. */
  readonly data: string | null;
  /** Current groups, by id; null if there are none. */
  readonly groups: readonly { readonly id: number; readonly name: string }[] | null;
}

/** A group that a user is in, as the user's row shows it. */
interface GroupOfUser {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
}

/** Status of a user: null is active; an inactive user cannot sign in, and its sessions are revoked. */
export type UserStatus = 'active' | 'inactive' | null;

/** The stored form of a password. */
export interface StoredPassword {
  /** argon2id PHC string. */
  readonly hash: string;
  /** Name of the pepper it was made with, never the pepper itself. */
  readonly pepper: string;
}

/** A user as stored; times in milliseconds since 1970. */
export interface StoredUser {
  readonly id: number;
  /** The email as given. */
  readonly email: string;
  /** Null: an administrator gave the email, and nobody says whether it is verified. */
  readonly emailVerified: boolean | null;
  readonly password: StoredPassword;
  /** JSON text, as it was given. */
  readonly data: string | null;
  readonly status: UserStatus;
  /** Groups in the order of their ids. */
  readonly groups: readonly GroupOfUser[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A row of the columns that {@link userColumns} names. */
interface UserColumns {
  readonly id: string;
  readonly email: string;
  readonly email_verified: boolean | null;
  readonly password: string;
  readonly pepper: string;
  readonly data: string | null;
  readonly status: UserStatus;
  readonly groups: readonly GroupOfUser[] | null;
  readonly created_at: Date | string;
  readonly updated_at: Date | string;
}

/** The columns of a {@link StoredUser}; the table goes by `u`. */
const userColumns = `u.id, u.email, u.email_verified, u.password, u.pepper, u.data, u.status,
       boxgate.groups_of(u.box, u.id) AS groups, u.created_at, u.updated_at`;

/** Converts a row for the rest of the service. */
function storedUser(row: UserColumns): StoredUser {
  return {
    id: Number(row.id),
    email: row.email,
    emailVerified: row.email_verified,
    password: { hash: row.password, pepper: row.pepper },
    data: row.data,
    status: row.status,
    groups: row.groups ?? [],
    createdAt: millisecondsOf(row.created_at),
    updatedAt: millisecondsOf(row.updated_at),
  };
}

/** Reads one user; undefined when there is none. */
export async function readUser(connection: Connection, box: string, id: number): Promise<StoredUser | undefined> {
  const { rows } = await connection.query<UserColumns>(
    `SELECT ${userColumns} FROM boxgate.user u WHERE u.box = $1 AND u.id = $2`,
    [box, id],
  );
  return rows[0] === undefined ? undefined : storedUser(rows[0]);
}

/** Locks the row of a user until the transaction ends, after any deletion of it; returns false when there is none. */
export async function lockUserRow(connection: Connection, box: string, id: number): Promise<boolean> {
  const lock = 'SELECT FROM boxgate.user WHERE box = $1 AND id = $2 FOR NO KEY UPDATE';
  return (await connection.query(lock, [box, id])).rowCount === 1;
}

/** A user who is about to sign in, and the config version that was read with the row. */
export interface SigningIn {
  readonly user: StoredUser;
  /** Sessions begun under it end with the next change that ends sessions of this user. */
  readonly version: number;
  readonly networks: SignInNetworks;
}

/** The networks of the last sign-ins of a user, with the times in seconds since 1970. */
export type SignInNetworks = Readonly<Record<string, number>>;

/** Reads the user whose email has this normal form; undefined when there is none. */
export async function findSigningIn(
  connection: Connection,
  box: string,
  emailKey: string,
): Promise<SigningIn | undefined> {
  const { rows } = await connection.query<UserColumns & Pick<SigningIn, 'networks'> & { readonly version: string }>(
    `SELECT ${userColumns}, u.networks, b.config_version AS version
       FROM boxgate.user u JOIN boxgate.box b ON b.box = u.box WHERE u.box = $1 AND u.email_key = $2`,
    [box, emailKey],
  );
  const [row] = rows;
  return row && { user: storedUser(row), version: Number(row.version), networks: row.networks };
}

/** Reads a user who may sign in now, as a check of a token would show it; undefined if there is none or inactive. */
export async function readPerson(connection: Connection, box: string, id: number): Promise<Person | undefined> {
  const { rows } = await connection.query<{ person: Person | null }>(
    'SELECT boxgate.living_user($1, $2, 9223372036854775807) AS person',
    [box, id],
  );
  return rows[0]?.person ?? undefined;
}

/** Finds the id of the user whose email has this normal form; undefined if there is none. */
export async function userOfEmail(connection: Connection, box: string, emailKey: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ id: string }>(
    'SELECT id FROM boxgate.user WHERE box = $1 AND email_key = $2',
    [box, emailKey],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].id);
}

/** Returns those of the groups that do not exist. */
export async function missingGroups(
  connection: Connection,
  box: string,
  groups: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await connection.query<{ id: string }>(
    'SELECT id FROM boxgate.group WHERE box = $1 AND id = ANY ($2::bigint[])',
    [box, groups],
  );
  const found = new Set(rows.map(({ id }) => Number(id)));
  return groups.filter((id) => !found.has(id));
}

/** Filters of a search for users. */
export interface UserFilters {
  /** Normal form of a whole email. */
  readonly emailKey?: string | undefined;
  /** Prefix of the normal form of the email. */
  readonly emailBeginning?: string | undefined;
  readonly group?: number | undefined;
  readonly status?: 'active' | 'inactive' | undefined;
}

/** A user of a list: the normal form of its email is a sort key. */
export interface ListedUser extends StoredUser {
  readonly emailKey: string;
}

interface ListedColumns extends UserColumns {
  readonly email_key: string;
}

function listedUser(row: ListedColumns): ListedUser {
  return { ...storedUser(row), emailKey: row.email_key };
}

/** The users of a box, by id or email. */
export const userListing = listingOf<ListedColumns, ListedUser, UserFilters>({
  columns: `${userColumns}, u.email_key`,
  rowOf: listedUser,
  orders: {
    id: [{ column: 'u.id', type: 'bigint', keyOf: (user) => String(user.id) }],
    email: [{ column: 'u.email_key', type: 'text', keyOf: (user) => user.emailKey }],
  },
  from: 'boxgate.user u',
  size: 'octet_length(concat(u.email, u.data))',
  where: (conditions, box, { emailKey, emailBeginning, group, status }) => {
    conditions.compare(box, (place) => `u.box = ${place}`);
    conditions.compare(emailKey, (place) => `u.email_key = ${place}`);
    // A range, not LIKE: row-level security lets only comparisons that leak nothing reach an index.
    conditions.compare(emailBeginning, (place) => `u.email_key >= ${place}`);
    const after = emailBeginning === undefined ? undefined : `${emailBeginning}\u{10ffff}`;
    conditions.compare(after, (place) => `u.email_key < ${place}`);
    if (status === 'inactive') conditions.add("u.status = 'inactive'");
    if (status === 'active') conditions.add("u.status IS DISTINCT FROM 'inactive'");
    conditions.compare(group, (place) => `EXISTS (${selectMember(place)})`);
  },
});

function selectMember(group: string): string {
  return `SELECT FROM boxgate.group_member m WHERE m.box = u.box AND m.user_id = u.id AND m.group_id = ${group}`;
}
