import { boxLock } from '../box/box.ts';
import type { Owner, PreviousSecret, ResourceColumns, ResourceKey, StoredResource } from './resource.ts';
import { storedResource } from './resource.ts';
import type { Connection } from '../core/transaction.ts';

/** A resource to be stored under a new config version. */
export interface ResourceWrite extends ResourceKey {
  /** Without its secret. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Stored forms of the client's valid secrets; undefined keeps the stored ones. */
  readonly secrets: readonly string[] | undefined;
  /** Its previous secret, still valid; null: none; omitted: the stored one stays. */
  readonly previous?: PreviousSecret | KeptPrevious | null | undefined;
  readonly owner: Owner | undefined;
  readonly digest: string | undefined;
  /** True to keep it, without an owner, when the object that declares it is deleted; default false. */
  readonly retain?: boolean;
  /** True if deleting a Box deletes the data of the box too; default false. */
  readonly purge?: boolean;
}

/**
 * A previous secret taken from the row, the generated one that applications use now: the client's current secret, or,
 * if that is the new one already or was never shown (NEVER), its previous one.
 */
interface KeptPrevious {
  readonly stored: undefined;
  /** Milliseconds since 1970: from then on it is not valid. */
  readonly until: number;
}

/**
 * Locks the box's row against every other change of its configuration until the transaction ends, but not against
 * reads; returns the config version, undefined if there is no such box. Call it before reading the rows that a change
 * depends on.
 */
export async function lockResources(connection: Connection, box: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ version: string }>(
    `SELECT b.config_version AS version FROM boxgate.box b, ${boxLock('exclusive')} WHERE b.box = $1 FOR NO KEY UPDATE OF b`,
    [box],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].version);
}

/**
 * Stores resources under the box's new config version (bumpVersion), in one statement however many they are. Sessions
 * decided earlier are revoked when a client is new, becomes inactive, gets another owner (not when it loses its owner:
 * a retained client stays valid) or was changed outside the service, and when a Box becomes inactive. The highest
 * `revoke_sessions_before` ever stored stays in force.
 */
export async function upsertResources(
  connection: Connection,
  box: string,
  version: number,
  resources: readonly ResourceWrite[],
): Promise<readonly StoredResource[]> {
  if (resources.length === 0) return [];
  const { rows } = await connection.query<ResourceColumns>('SELECT * FROM boxgate.store_resources($1, $2, $3, true)', [
    box,
    version,
    recordsOf(resources),
  ]);
  await followResources(connection, box, version, resources);
  return rows.map(storedResource);
}

/** Stores resources as {@link upsertResources} does, but returns none of them: a call may contain megabytes. */
export async function storeResources(
  connection: Connection,
  box: string,
  version: number,
  resources: readonly ResourceWrite[],
): Promise<void> {
  if (resources.length === 0) return;
  const values = [box, version, recordsOf(resources)];
  await connection.query('SELECT count(*) FROM boxgate.store_resources($1, $2, $3, false)', values);
  await followResources(connection, box, version, resources);
}

/** Updates the data that depends on the stored resources. */
export async function followResources(
  connection: Connection,
  box: string,
  version: number,
  resources: readonly ResourceWrite[],
): Promise<void> {
  if (resources.some(({ kind }) => kind === 'Box')) {
    await connection.query(followBox, [box, version]);
    // Sessions are not counted while a box has no limit: once it has one again, an older count is wrong.
    await connection.query('DELETE FROM boxgate.session_room WHERE box = $1', [box]);
  }
  if (resources.some(({ body }) => body['revoke_sessions_before'] !== undefined)) {
    await connection.query(endFamiliesBefore, [box, version]);
  }
}

/** Returns resources as the functions that store them take them: JSON. */
export function recordsOf(resources: readonly ResourceWrite[]): string {
  return JSON.stringify(
    resources.map(({ kind, id, body, secrets, previous, owner, digest, retain = false, purge = false }) => ({
      kind,
      id,
      body,
      secrets,
      previous_kept: previous === undefined,
      previous_secret: previous?.stored,
      previous_until: previous?.until,
      owner_cluster: owner?.cluster,
      owner_name: owner?.name,
      owner_uid: owner?.uid,
      digest,
      retain,
      purge,
      revoked_before: millisecondsOf(body['revoke_sessions_before']),
    })),
  );
}

function millisecondsOf(moment: unknown): number | undefined {
  return typeof moment === 'string' ? Date.parse(moment) : undefined;
}

// The row of the box itself stores the session settings of its resource, because it outlives the resource.
const followBox = `
UPDATE boxgate.box b
   SET revoked_before = GREATEST(b.revoked_before, r.revoked_before),
       sessions_from = CASE WHEN EXISTS (SELECT FROM boxgate.revocation v
                                          WHERE v.box = $1::text AND v.subject = 'box' AND v.version = $2::bigint)
                            THEN $2::bigint ELSE b.sessions_from END
  FROM boxgate.resource r
 WHERE b.box = $1::text AND r.box = $1::text AND r.kind = 'Box'`;

// Revoking a family also revokes the tokens obtained with its refresh tokens, even later ones (RFC 7009 §2.1):
// a thief must not keep the last access token. Refreshes hold the box's row, so none is in progress.
const endFamiliesBefore = `
UPDATE boxgate.refresh_family f SET ended_at = now(), ended_as = 'revoked'
  FROM boxgate.resource r
 WHERE r.box = $1 AND r.version = $2 AND f.box = $1 AND f.created_at < r.revoked_before AND f.ended_at IS NULL
   AND (r.kind = 'Box' OR (r.kind = 'Client' AND r.id = f.client))`;

/**
 * Removes the owner of resources under the box's new config version (bumpVersion): they stay as if created over
 * REST, with their secrets and sessions. Their clients are no longer first party, because nobody vouches for them.
 */
export async function releaseResources(
  connection: Connection,
  box: string,
  version: number,
  keys: readonly ResourceKey[],
): Promise<void> {
  await connection.query(release, [box, version, keys.map(({ kind }) => kind), keys.map(({ id }) => id)]);
}

const release = `
UPDATE boxgate.resource r
   SET version = $2::bigint, owner_cluster = NULL, owner_name = NULL, owner_uid = NULL, digest = NULL, retain = false,
       body = CASE WHEN r.kind = 'Client' AND r.body -> 'first_party' = 'true'
                   THEN r.body || '{"first_party": false}' ELSE r.body END,
       content = '', updated_at = now()
  FROM unnest($3::text[], $4::text[]) AS k (kind, id)
 WHERE r.box = $1::text AND r.kind = k.kind AND r.id = k.id`;

/** Revokes all sessions of clients under the box's new config version (bumpVersion). */
export async function revokeClients(
  connection: Connection,
  box: string,
  version: number,
  clients: readonly string[],
): Promise<void> {
  await connection.query(
    `WITH revoked AS (
       INSERT INTO boxgate.revocation (box, subject, version)
       SELECT $1::text, 'client:' || c.id, $2::bigint FROM unnest($3::text[]) AS c (id)
       ON CONFLICT DO NOTHING)
     UPDATE boxgate.resource r SET version = $2::bigint, sessions_from = $2::bigint, content = '', updated_at = now()
       FROM unnest($3::text[]) AS c (id)
      WHERE r.box = $1::text AND r.kind = 'Client' AND r.id = c.id`,
    [box, version, clients],
  );
}

/**
 * Deletes resources under the box's new config version (bumpVersion), in one statement; returns those that existed.
 * Leaves a tombstone of each, and revokes all sessions of the deleted clients, which are no longer counted.
 */
export async function deleteResources(
  connection: Connection,
  box: string,
  version: number,
  keys: readonly ResourceKey[],
): Promise<readonly StoredResource[]> {
  const { rows } = await connection.query<ResourceColumns>('SELECT * FROM boxgate.delete_resources($1, $2, $3, $4)', [
    box,
    version,
    keys.map(({ kind }) => kind),
    keys.map(({ id }) => id),
  ]);
  return rows.map(storedResource);
}
