import { bytesOfGroup, countChanges } from './box/box-use.ts';
import { declaredResource, ownerOf } from './resource/resource.ts';
import type { DeclaredColumns, DeclaredResource, Owner, OwnerColumns } from './resource/resource.ts';
import type { Connection } from './core/transaction.ts';

/** A declared group to be stored under a new config version. */
export interface GroupWrite {
  readonly name: string;
  readonly description: string | null;
  readonly owner: Owner;
  readonly digest: string;
  /** True to keep it, without an owner, when the object that declares it is deleted. */
  readonly retain: boolean;
}

/** The columns of a declared row; the table goes by `g`. */
const declaredColumns = `'Group' AS kind, g.name AS id, g.version, g.owner_cluster, g.owner_name, g.owner_uid, g.digest,
       g.retain, false AS purge`;

/** Reads all groups of a box that a cluster declares, as rows whose id is the name. */
export async function declaredGroups(
  connection: Connection,
  box: string,
  cluster: string,
): Promise<readonly DeclaredResource[]> {
  const { rows } = await connection.query<DeclaredColumns>(
    `SELECT ${declaredColumns} FROM boxgate.group g WHERE g.box = $1 AND g.owner_cluster = $2`,
    [box, cluster],
  );
  return rows.map(declaredResource);
}

/** Finds those of the named groups that exist, whoever created them, as rows whose id is the name. */
export async function findGroups(
  connection: Connection,
  box: string,
  names: readonly string[],
): Promise<readonly DeclaredResource[]> {
  const { rows } = await connection.query<DeclaredColumns>(
    `SELECT ${declaredColumns} FROM boxgate.group g WHERE g.box = $1 AND g.name = ANY ($2::text[])`,
    [box, names],
  );
  return rows.map(declaredResource);
}

/** Content of a stored group, and its owner. */
export interface GroupContent {
  readonly description: string | null;
  readonly owner: Owner | undefined;
}

/** Reads the contents of those of the named groups that exist, by name. */
export async function groupContents(
  connection: Connection,
  box: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, GroupContent>> {
  const { rows } = await connection.query<Pick<GroupWrite, 'name' | 'description'> & OwnerColumns>(
    `SELECT g.name, g.description, g.owner_cluster, g.owner_name, g.owner_uid FROM boxgate.group g
      WHERE g.box = $1 AND g.name = ANY ($2::text[])`,
    [box, names],
  );
  return new Map(rows.map(({ name, description, ...owner }) => [name, { description, owner: ownerOf(owner) }]));
}

/** Ids of groups, by name. */
export type GroupIds = ReadonlyMap<string, number>;

/**
 * Stores groups under the box's new config version (bumpVersion), in one statement however many they are, and returns
 * their ids. One that exists keeps its id and its members; the others take the next ids. Call it under the box's lock.
 */
export async function storeGroups(
  connection: Connection,
  box: string,
  version: number,
  groups: readonly GroupWrite[],
): Promise<GroupIds> {
  const records = groups.map(({ name, description, owner, digest, retain }) => ({
    name,
    description,
    owner_cluster: owner.cluster,
    owner_name: owner.name,
    owner_uid: owner.uid,
    digest,
    retain,
  }));
  return groupIds(await connection.query<IdColumns>(upsert, [box, version, JSON.stringify(records)]));
}

interface IdColumns {
  readonly id: string;
  readonly name: string;
}

function groupIds({ rows }: { readonly rows: readonly IdColumns[] }): GroupIds {
  return new Map(rows.map(({ id, name }) => [name, Number(id)]));
}

const upsert = `
WITH wanted AS MATERIALIZED (
  SELECT w.* FROM jsonb_to_recordset($3::jsonb) AS w (name text, description text, owner_cluster text, owner_name text,
                                                     owner_uid text, digest text, retain boolean)
), present AS (
  SELECT ${bytesOfGroup} AS bytes FROM boxgate.group g JOIN wanted w ON w.name = g.name WHERE g.box = $1::text
), changed AS (
  UPDATE boxgate.group g
     SET description = w.description, version = $2::bigint, owner_cluster = w.owner_cluster, owner_name = w.owner_name,
         owner_uid = w.owner_uid, digest = w.digest, retain = w.retain, updated_at = now()
    FROM wanted w WHERE g.box = $1::text AND g.name = w.name
  RETURNING g.id, g.name, ${bytesOfGroup} AS bytes
), fresh AS MATERIALIZED (
  SELECT w.*, row_number() OVER (ORDER BY w.name) AS nth
    FROM wanted w WHERE NOT EXISTS (SELECT FROM boxgate.group g WHERE g.box = $1::text AND g.name = w.name)
), taken AS (
  INSERT INTO boxgate.last_id AS l (box, kind, id)
  SELECT $1::text, 'Group', count(*) FROM fresh HAVING count(*) > 0
  ON CONFLICT (box, kind) DO UPDATE SET id = l.id + excluded.id
  RETURNING id
), made AS (
  INSERT INTO boxgate.group AS g (box, id, name, description, version, owner_cluster, owner_name, owner_uid, digest,
                                  retain)
  SELECT $1::text, t.id - (SELECT count(*) FROM fresh) + f.nth, f.name, f.description, $2::bigint, f.owner_cluster,
         f.owner_name, f.owner_uid, f.digest, f.retain
    FROM fresh f CROSS JOIN taken t
  RETURNING g.id, g.name, ${bytesOfGroup} AS bytes
), stored AS (SELECT * FROM changed UNION ALL SELECT * FROM made
), counted AS (
  ${countChanges("SELECT 'Group', bytes, -1 FROM present UNION ALL SELECT 'Group', bytes, 1 FROM stored")}
)
SELECT id, name FROM stored`;

/**
 * Removes the owner of groups under the box's new config version, and returns their ids: they stay as if created over
 * REST.
 */
export async function releaseGroups(
  connection: Connection,
  box: string,
  version: number,
  names: readonly string[],
): Promise<GroupIds> {
  const released = await connection.query<IdColumns>(
    `UPDATE boxgate.group SET version = $2, owner_cluster = NULL, owner_name = NULL, owner_uid = NULL, digest = NULL,
            retain = false, updated_at = now()
      WHERE box = $1 AND name = ANY ($3::text[])
     RETURNING id, name`,
    [box, version, names],
  );
  return groupIds(released);
}

/** Deletes groups and their memberships, and returns their ids; the users stay, and so do their sessions. */
export async function deleteGroups(connection: Connection, box: string, names: readonly string[]): Promise<GroupIds> {
  const deleted = await connection.query<IdColumns>(
    `WITH deleted AS (
       DELETE FROM boxgate.group g WHERE g.box = $1 AND g.name = ANY ($2::text[])
       RETURNING g.id, g.name, ${bytesOfGroup} AS bytes
     ), counted AS (${countChanges("SELECT 'Group', bytes, -1 FROM deleted")})
     SELECT id, name FROM deleted`,
    [box, names],
  );
  return groupIds(deleted);
}

/** Transfers the groups that a cluster declares in a box to another one, or to itself again, as adoptRows does. */
export async function adoptGroups(connection: Connection, box: string, from: string, to: string): Promise<void> {
  await connection.query(
    'UPDATE boxgate.group SET owner_cluster = $3, owner_uid = NULL WHERE box = $1 AND owner_cluster = $2',
    [box, from, to],
  );
}

/** Number of members of a group, at most as many as were asked for. */
export interface GroupSize {
  readonly name: string;
  readonly members: number;
}

/** Limits of counting: memberships that are read of each group, and of all groups of a box. */
export interface CountLimits {
  readonly each: number;
  readonly all: number;
}

/**
 * Counts the members of the groups that a cluster declares in a box, by name; of a group beyond the limit of all
 * nothing is told.
 */
export async function sizesOfGroups(
  connection: Connection,
  box: string,
  cluster: string,
  { each, all }: CountLimits,
): Promise<readonly GroupSize[]> {
  const { rows } = await connection.query<{ name: string; members: string; rows: string }>(
    `SELECT l.name, count(l.user_id) AS members, count(*) AS rows
       FROM (SELECT d.name, m.user_id
               FROM (SELECT g.id, g.name FROM boxgate.group g
                      WHERE g.box = $1 AND g.owner_cluster = $2 ORDER BY g.name) AS d
               LEFT JOIN LATERAL (SELECT i.user_id FROM boxgate.group_member i
                                   WHERE i.box = $1 AND i.group_id = d.id LIMIT $3) AS m ON true
              LIMIT $4) AS l
      GROUP BY l.name ORDER BY l.name`,
    [box, cluster, each, all],
  );
  const isCut = rows.reduce((sum, row) => sum + Number(row.rows), 0) >= all;
  // The members of the last group may not all have been read.
  const whole = isCut ? rows.slice(0, -1) : rows;
  return whole.map(({ name, members }) => ({ name, members: Number(members) }));
}
