import { countFound, readSpan } from '../core/found-rows.ts';
import type { Source } from '../core/found-rows.ts';
import { Parameters } from '../core/keyset.ts';
import type { Page, SortColumn, Span } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';
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

/** A search among the users of a box. */
export interface UserSearch {
  readonly box: string;
  readonly filters: UserFilters;
}

/** Sort keys of users; each has an index. */
export type UserSort = 'id' | 'email';

const sortColumns = {
  id: [{ column: 'u.id', type: 'bigint' }],
  email: [{ column: 'u.email_key', type: 'text' }],
} as const satisfies Record<UserSort, readonly SortColumn[]>;

/** Reads one span of the users that a search finds. */
export async function searchUsers(
  connection: Connection,
  search: UserSearch,
  sort: UserSort,
  span: Span,
): Promise<Page<ListedUser>> {
  const columns = `${userColumns}, u.email_key`;
  const source = sourceOf(search);
  const listing = { source, columns, sort: sortColumns[sort] };
  const { rows, more } = await readSpan<ListedColumns>(connection, listing, span);
  return { rows: rows.map((row) => ({ ...storedUser(row), emailKey: row.email_key })), more };
}

/** Counts the users that a search finds, up to `most`. */
export function countUsers(connection: Connection, search: UserSearch, most?: number): Promise<number> {
  return countFound(connection, sourceOf(search), most);
}

function sourceOf({ box, filters }: UserSearch): Source {
  const parameters = new Parameters();
  const { emailKey, emailBeginning, group, status } = filters;
  const place = parameters.add(box);
  const conditions = [`u.box = ${place}`];
  if (emailKey !== undefined) conditions.push(`u.email_key = ${parameters.add(emailKey)}`);
  if (emailBeginning !== undefined) {
    // A range, not LIKE: row-level security lets only comparisons that leak nothing reach an index.
    conditions.push(`u.email_key >= ${parameters.add(emailBeginning)}`);
    conditions.push(`u.email_key < ${parameters.add(`${emailBeginning}\u{10ffff}`)}`);
  }
  if (status === 'inactive') conditions.push("u.status = 'inactive'");
  if (status === 'active') conditions.push("u.status IS DISTINCT FROM 'inactive'");
  const size = 'octet_length(concat(u.email, u.data))';
  if (group === undefined) return { from: `boxgate.user u WHERE ${conditions.join(' AND ')}`, size, parameters };
  conditions.push(`m.box = ${place}`, `m.group_id = ${parameters.add(group)}`);
  const members = 'boxgate.user u JOIN boxgate.group_member m ON m.user_id = u.id';
  return { from: `${members} WHERE ${conditions.join(' AND ')}`, size, parameters };
}
