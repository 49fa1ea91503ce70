import { bytesOfGroup, countChanges } from './box/box-use.ts';
import type { TimeRange } from './core/keyset.ts';
import { listingOf } from './core/listing.ts';
import { isUniqueViolation } from './core/outage.ts';
import type { Connection } from './core/transaction.ts';
import { ownerOf } from './resource/resource.ts';
import type { Owner } from './resource/resource.ts';
import { nextId } from './user-write.ts';
import type { Person } from './user.ts';

/** Content of a group as a caller sends it. */
export interface GroupContent {
  /** Unique in its box; never only digits. */
  readonly name: string;
  readonly description: string | null;
}

/** A group as stored. */
export interface StoredGroup extends GroupContent {
  readonly id: number;
  /** The config version of its last change: its ETag. */
  readonly version: number;
  /** Number of users in it. */
  readonly members: number;
  /** The name before the present one; null if it was never renamed. */
  readonly lastName: string | null;
  /** Undefined if it was created over REST, or retained when its object was deleted. */
  readonly owner: Owner | undefined;
  /** With microseconds, as the sort key of a cursor. */
  readonly createdAt: string;
}

/** A row of the columns that {@link groupColumns} names. */
interface GroupColumns {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly version: string;
  readonly members: string;
  readonly last_name: string | null;
  readonly owner_cluster: string | null;
  readonly owner_name: string | null;
  readonly owner_uid: string | null;
  readonly created_at: string;
}

/** The columns of a {@link StoredGroup}; the table goes by `g`. */
const groupColumns = `g.id, g.name, g.last_name, g.description, g.version, g.created_at::text AS created_at,
       g.owner_cluster, g.owner_name, g.owner_uid,
       (SELECT count(*) FROM boxgate.group_member m WHERE m.box = g.box AND m.group_id = g.id) AS members`;

function storedGroup(row: GroupColumns): StoredGroup {
  return {
    id: Number(row.id),
    name: row.name,
    description: row.description,
    version: Number(row.version),
    members: Number(row.members),
    lastName: row.last_name,
    owner: ownerOf(row),
    createdAt: row.created_at,
  };
}

/** Reads one group; undefined when there is none. */
export async function readGroup(connection: Connection, box: string, id: number): Promise<StoredGroup | undefined> {
  const { rows } = await connection.query<GroupColumns>(
    `SELECT ${groupColumns} FROM boxgate.group g WHERE g.box = $1 AND g.id = $2`,
    [box, id],
  );
  return rows[0] === undefined ? undefined : storedGroup(rows[0]);
}

/** Finds the id of the group with this name; undefined if there is none. */
export async function groupOfName(connection: Connection, box: string, name: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ id: string }>('SELECT id FROM boxgate.group WHERE box = $1 AND name = $2', [
    box,
    name,
  ]);
  return rows[0] === undefined ? undefined : Number(rows[0].id);
}

/** Stores a group under the next id of its box and the box's new config version; undefined when its name is taken. */
export async function insertGroup(
  connection: Connection,
  box: string,
  version: number,
  { name, description }: GroupContent,
): Promise<StoredGroup | undefined> {
  const id = await nextId(connection, box, 'Group');
  const { rowCount } = await connection.query(
    `WITH stored AS (
       INSERT INTO boxgate.group AS g (box, id, name, description, version) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (box, name) DO NOTHING RETURNING ${bytesOfGroup} AS bytes
     ), counted AS (${countChanges("SELECT 'Group', bytes, 1 FROM stored")})
     SELECT FROM stored`,
    [box, id, name, description, version],
  );
  return rowCount === 1 ? readGroup(connection, box, id) : undefined;
}

/** Key of a group, and the box's new config version that a change is made under. */
export interface GroupVersion {
  readonly id: number;
  readonly version: number;
}

/**
 * Replaces the content of a group under a new config version; `taken` if another group has the name, and the
 * transaction must be rolled back; undefined if there is no such group.
 */
export async function updateGroup(
  connection: Connection,
  box: string,
  { id, version }: GroupVersion,
  { name, description }: GroupContent,
): Promise<StoredGroup | 'taken' | undefined> {
  try {
    await connection.query(
      `WITH present AS (SELECT ${bytesOfGroup} AS bytes FROM boxgate.group g WHERE g.box = $1 AND g.id = $2
       ), changed AS (
         UPDATE boxgate.group g
            SET name = $3, last_name = CASE WHEN name = $3 THEN last_name ELSE name END, description = $4, version = $5,
                updated_at = now()
          WHERE g.box = $1 AND g.id = $2 RETURNING ${bytesOfGroup} AS bytes)
       ${countChanges("SELECT 'Group', bytes, -1 FROM present UNION ALL SELECT 'Group', bytes, 1 FROM changed")}`,
      [box, id, name, description, version],
    );
  } catch (error) {
    if (isUniqueViolation(error, 'group_name')) return 'taken';
    throw error;
  }
  return readGroup(connection, box, id);
}

/** Deletes a group and its memberships. */
export async function deleteGroup(connection: Connection, box: string, id: number): Promise<void> {
  await connection.query(
    `WITH deleted AS (DELETE FROM boxgate.group g WHERE g.box = $1 AND g.id = $2 RETURNING ${bytesOfGroup} AS bytes)
     ${countChanges("SELECT 'Group', bytes, -1 FROM deleted")}`,
    [box, id],
  );
}

/** Filters of a search for groups. */
export interface GroupFilters {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
}

const id = { column: 'g.id', type: 'bigint', keyOf: (group: StoredGroup) => String(group.id) } as const;

/** The groups of a box, by id, name or creation. */
export const groupListing = listingOf<GroupColumns, StoredGroup, GroupFilters>({
  columns: groupColumns,
  rowOf: storedGroup,
  orders: {
    id: [id],
    name: [{ column: 'g.name', type: 'text', keyOf: (group) => group.name }],
    created_at: [{ column: 'g.created_at', type: 'timestamptz', keyOf: (group) => group.createdAt }, id],
  },
  from: 'boxgate.group g',
  size: bytesOfGroup,
  where: (conditions, box, filters) => {
    conditions.compare(box, (place) => `g.box = ${place}`);
    conditions.compare(filters.id, (place) => `g.id = ${place}`);
    conditions.compare(filters.name, (place) => `g.name = ${place}`);
    conditions.within('g.created_at', filters.createdAt);
  },
});

/** A resource that refers to a group. */
interface GroupUse {
  readonly kind: 'AccessPolicy' | 'Box';
  readonly id: string;
}

/**
 * Finds a policy that links a group by its name, or by its id where that is given, or the settings of the box whose
 * `registration.default_group` it is; undefined if nothing refers to it. Policies come first, by id.
 */
export async function groupUse(
  connection: Connection,
  box: string,
  { name, id }: { readonly name: string; readonly id?: number },
): Promise<GroupUse | undefined> {
  const links = [name, ...(id === undefined ? [] : [String(id)])].map((one) => [{ resourceType: 'Group', id: one }]);
  const { rows } = await connection.query<GroupUse>(
    `SELECT kind, id FROM boxgate.resource
      WHERE box = $1 AND (kind = 'AccessPolicy' AND body -> 'link' @> ANY ($2::text[]::jsonb[])
                       OR kind = 'Box' AND body -> 'registration' ->> 'default_group' = $3)
      ORDER BY kind, id LIMIT 1`,
    [box, links.map((link) => JSON.stringify(link)), name],
  );
  return rows[0];
}

/**
 * Checks whether a box has an administrator: an active user to whom a policy with engine `allow` and without `apps` is
 * linked, directly or by a group. With `user`, only that one counts.
 */
export async function hasAdministrator(connection: Connection, box: string, user?: number): Promise<boolean> {
  const { rowCount } = await connection.query(
    `WITH link AS (
       SELECT l."resourceType" AS type, l.id, CASE WHEN l.id ~ '^[0-9]{1,15}$' THEN l.id::bigint END AS number
         FROM boxgate.resource p
        CROSS JOIN LATERAL jsonb_to_recordset(p.body -> 'link') AS l ("resourceType" text, id text)
        WHERE p.box = $1 AND p.kind = 'AccessPolicy' AND p.body ->> 'engine' = 'allow' AND NOT p.body ? 'apps'
          AND l."resourceType" <> 'Client')
     SELECT FROM link l
      CROSS JOIN LATERAL (
            SELECT u.id FROM boxgate.user u
             WHERE l.type = 'User' AND u.id = coalesce($2, u.id) AND u.box = $1 AND u.id = l.number AND u.status IS DISTINCT FROM 'inactive'
            UNION ALL
            SELECT u.id FROM boxgate.group g
              JOIN boxgate.group_member m ON m.box = $1 AND m.group_id = g.id
              JOIN boxgate.user u ON u.box = $1 AND u.id = m.user_id AND u.status IS DISTINCT FROM 'inactive'
             WHERE l.type = 'Group' AND u.id = coalesce($2, u.id) AND g.box = $1 AND (g.name = l.id OR g.id = l.number)
            LIMIT 1) AS administrator
      LIMIT 1`,
    [box, user ?? null],
  );
  return rowCount === 1;
}

/** Reads those of the named groups that exist, as policies see those of their members. */
export async function groupsNamed(
  connection: Connection,
  box: string,
  names: readonly string[],
): Promise<NonNullable<Person['groups']>> {
  if (names.length === 0) return [];
  const { rows } = await connection.query<{ id: string; name: string }>(
    'SELECT id, name FROM boxgate.group WHERE box = $1 AND name = ANY ($2::text[])',
    [box, names],
  );
  return rows.map(({ id, name }) => ({ id: Number(id), name }));
}
