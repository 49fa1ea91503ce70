import { NEVER } from '../../../crds/duration.ts';
import type { Kind } from '../../../crds/kind.ts';
import type { Connection } from '../core/transaction.ts';
import type { Link } from '../../../crds/links.ts';
import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';

/** SQL: the IDs of the built-in clients, as the list of an IN. */
export const builtInIds = `(${BUILT_IN_CLIENTS.map((id) => `'${id}'`).join(', ')})`;

/**
 * SQL for the version in which a stored client with the ID of a built-in one was last deleted; 0: none ever was. What
 * was begun under an older version belongs to that client. `box` is the SQL of the box.
 */
export function builtInFrom(box: string): string {
  return `coalesce((SELECT max(d.version) FROM boxgate.tombstone d
                     WHERE d.box = ${box} AND d.kind = 'Client' AND d.id IN ${builtInIds}), 0)`;
}

/** Key of a resource in a box. */
export interface ResourceKey {
  readonly kind: Kind;
  readonly id: string;
}

/** The declarer of a resource: a cluster (or folder), the object's `namespace/name` there, and its uid. */
export interface Owner {
  readonly cluster: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** The stored form of a client's previous secret. */
export interface PreviousSecret {
  readonly stored: string;
  /** Milliseconds since 1970: from then on it is not valid. */
  readonly until: number;
}

/** A resource as stored. `body` never contains a secret. */
export interface StoredResource extends ResourceKey {
  /** The config version of its last change: its ETag. */
  readonly version: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** True if a client has a secret. */
  readonly hasSecret: boolean;
  /** Milliseconds since 1970: until then its previous secret is valid; undefined: none is, or it has no end. */
  readonly previousUntil: number | undefined;
  /** Undefined if it was created over REST, or retained when its object was deleted. */
  readonly owner: Owner | undefined;
  /** With microseconds, as the sort key of a cursor. */
  readonly createdAt: string;
}

/** A row of the columns that {@link resourceColumns} names. */
export interface ResourceColumns {
  readonly kind: Kind;
  readonly id: string;
  readonly version: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly has_secret: boolean;
  readonly previous_until: Date | null;
  readonly owner_cluster: string | null;
  readonly owner_name: string | null;
  readonly owner_uid: string | null;
  readonly created_at: string;
}

/** The columns of a {@link StoredResource}; the table goes by `r`. */
export const resourceColumns = `r.kind, r.id, r.version, r.body, cardinality(r.secrets) > 0 AS has_secret,
       CASE WHEN r.previous_until > now() AND r.previous_until < '${NEVER}' THEN r.previous_until END AS previous_until,
       r.owner_cluster, r.owner_name, r.owner_uid, r.created_at::text AS created_at`;

/** Converts a row for the rest of the service. */
export function storedResource(row: ResourceColumns): StoredResource {
  return {
    kind: row.kind,
    id: row.id,
    version: Number(row.version),
    body: row.body,
    hasSecret: row.has_secret,
    previousUntil: row.previous_until?.getTime(),
    owner: ownerOf(row),
    createdAt: row.created_at,
  };
}

/** The columns that name the owner of a row. */
export type OwnerColumns = Pick<ResourceColumns, 'owner_cluster' | 'owner_name' | 'owner_uid'>;

/** Returns the owner that the columns of a row name; undefined if it has none. */
export function ownerOf(row: OwnerColumns): Owner | undefined {
  if (row.owner_cluster === null || row.owner_name === null) return undefined;
  return { cluster: row.owner_cluster, name: row.owner_name, uid: row.owner_uid ?? undefined };
}

/** Reads one resource; undefined when there is none. */
export async function readResource(
  connection: Connection,
  box: string,
  { kind, id }: ResourceKey,
): Promise<StoredResource | undefined> {
  const { rows } = await connection.query<ResourceColumns>(
    `SELECT ${resourceColumns} FROM boxgate.resource r WHERE r.box = $1 AND r.kind = $2 AND r.id = $3`,
    [box, kind, id],
  );
  return rows[0] === undefined ? undefined : storedResource(rows[0]);
}

/** State of a row for the declaring side: its owner, and a digest of its declaration. */
export interface DeclaredResource extends ResourceKey {
  readonly version: number;
  readonly owner: Owner | undefined;
  /** The declaring side's keyed digest of what it declared. */
  readonly digest: string | undefined;
  /** True if it stays, without an owner, when the object that declares it is deleted. */
  readonly retain: boolean;
  /** True if deleting a Box deletes the data of the box too. */
  readonly purge: boolean;
}

/** Columns of a {@link DeclaredResource}, as SQL returns them. */
export interface DeclaredColumns {
  readonly kind: Kind;
  readonly id: string;
  readonly version: string;
  readonly owner_cluster: string | null;
  readonly owner_name: string | null;
  readonly owner_uid: string | null;
  readonly digest: string | null;
  readonly retain: boolean;
  readonly purge: boolean;
}

/** The columns of a {@link DeclaredResource}; the table goes by `r`. */
const declaredColumns = `r.kind, r.id, r.version, r.owner_cluster, r.owner_name, r.owner_uid, r.digest, r.retain, r.purge`;

/** Reads all resources of a box that a cluster declares. */
export async function digestsOf(
  connection: Connection,
  box: string,
  cluster: string,
): Promise<readonly DeclaredResource[]> {
  const { rows } = await connection.query<DeclaredColumns>(
    `SELECT ${declaredColumns} FROM boxgate.resource r WHERE r.box = $1 AND r.owner_cluster = $2`,
    [box, cluster],
  );
  return rows.map(declaredResource);
}

/** Finds those of the named resources that exist, whoever created them; thousands of keys are one statement. */
export async function findResources(
  connection: Connection,
  box: string,
  keys: readonly ResourceKey[],
): Promise<readonly DeclaredResource[]> {
  const { rows } = await connection.query<DeclaredColumns>(
    `SELECT ${declaredColumns}
       FROM unnest($2::text[], $3::text[]) AS k (kind, id)
       JOIN boxgate.resource r ON r.box = $1 AND r.kind = k.kind AND r.id = k.id`,
    [box, keys.map(({ kind }) => kind), keys.map(({ id }) => id)],
  );
  return rows.map(declaredResource);
}

/** Content of a stored resource: its body, the stored forms of its secrets, and its owner. */
export interface StoredContent {
  readonly body: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
  readonly owner: Owner | undefined;
}

/**
 * Checks whether a row is another owner's than the one that declares it now. The uid of an owner that has taken over a
 * namespace is recorded with its first declaration: that is no other owner.
 */
export function isAnothers(before: Owner | undefined, owner: Owner): boolean {
  if (before?.cluster !== owner.cluster || before.name !== owner.name) return true;
  return before.uid !== undefined && before.uid !== owner.uid;
}

/** Reads the contents of the named resources that exist, by `<kind>/<id>`. */
export async function storedContents(
  connection: Connection,
  box: string,
  keys: readonly ResourceKey[],
): Promise<ReadonlyMap<string, StoredContent>> {
  if (keys.length === 0) return new Map();
  const { rows } = await connection.query<ContentColumns>(
    `SELECT r.kind, r.id, r.body, r.secrets, r.owner_cluster, r.owner_name, r.owner_uid
       FROM unnest($2::text[], $3::text[]) AS k (kind, id)
       JOIN boxgate.resource r ON r.box = $1 AND r.kind = k.kind AND r.id = k.id`,
    [box, keys.map(({ kind }) => kind), keys.map(({ id }) => id)],
  );
  return new Map(
    rows.map(({ kind, id, body, secrets, ...owner }) => [`${kind}/${id}`, { body, secrets, owner: ownerOf(owner) }]),
  );
}

type ContentColumns = ResourceKey & Omit<StoredContent, 'owner'> & OwnerColumns;

/** Reads a declared row from its columns. */
export function declaredResource(row: DeclaredColumns): DeclaredResource {
  return {
    kind: row.kind,
    id: row.id,
    version: Number(row.version),
    owner: ownerOf(row),
    digest: row.digest ?? undefined,
    retain: row.retain,
    purge: row.purge,
  };
}

/** Returns those of the links whose Client, User or Group (by id or by name) is not in the box, and not built in. */
export async function missingLinks(
  connection: Connection,
  box: string,
  links: readonly Link[],
): Promise<readonly Link[]> {
  const { rows } = await connection.query<{ nth: string }>(
    `SELECT l.nth
       FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS l (type, id, nth)
      WHERE NOT CASE l.type
              WHEN 'Client' THEN l.id IN ${builtInIds}
                OR EXISTS (SELECT FROM boxgate.resource r WHERE r.box = $1 AND r.kind = 'Client' AND r.id = l.id)
              WHEN 'User' THEN EXISTS (SELECT FROM boxgate.user u WHERE u.box = $1 AND u.id = ${numberOf('l.id')})
              ELSE EXISTS (SELECT FROM boxgate.group g WHERE g.box = $1 AND g.id = ${numberOf('l.id')})
                OR EXISTS (SELECT FROM boxgate.group g WHERE g.box = $1 AND g.name = l.id)
            END
      ORDER BY l.nth`,
    [box, links.map(({ resourceType }) => resourceType), links.map(({ id }) => id)],
  );
  return rows.flatMap(({ nth }) => links[Number(nth) - 1] ?? []);
}

/** SQL: the number that a text is as an id of ours; NULL for any other text. */
function numberOf(text: string): string {
  return `CASE WHEN ${text} ~ '^[1-9][0-9]{0,14}$' THEN ${text}::bigint END`;
}
