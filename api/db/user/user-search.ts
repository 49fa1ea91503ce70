import { listingOf } from '../core/listing.ts';
import { storedUser, userColumns } from './user.ts';
import type { StoredUser, UserColumns } from './user.ts';

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
