import { NEVER } from '../../../crds/duration.ts';
import { boxLock } from '../box/box.ts';
import type { Owner, PreviousSecret, ResourceColumns, ResourceKey, StoredResource } from './resource.ts';
import { resourceColumns, rowState, storedResource } from './resource.ts';
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
  const values = [box, version, recordsOf(resources)];
  const { rows } = await connection.query<ResourceColumns>(`${upsert} RETURNING ${resourceColumns}`, values);
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
  await connection.query(upsert, [box, version, recordsOf(resources)]);
  await followResources(connection, box, version, resources);
}

/** Updates the data that depends on the stored resources. */
async function followResources(
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

function recordsOf(resources: readonly ResourceWrite[]): string {
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

// Sessions and secrets of another owner of the row do not belong to the declarer.
const isAnothers = `(o.id IS NULL OR o.changed
         OR (w.owner_cluster IS NOT NULL AND (o.owner_cluster, o.owner_name, COALESCE(o.owner_uid, w.owner_uid))
             IS DISTINCT FROM (w.owner_cluster, w.owner_name, w.owner_uid)))`;

// A chosen secret is not kept: a generated one is meant to replace it.
const previousSecret = `CASE
           WHEN w.previous_kept AND (w.owner_cluster IS NULL OR NOT ${isAnothers}) THEN o.previous_secret
           WHEN w.previous_secret IS NOT NULL OR w.previous_until IS NULL THEN w.previous_secret
           WHEN ${isAnothers} THEN NULL
           WHEN w.secrets -> 0 = to_jsonb(o.secrets[1]) OR o.previous_until = '${NEVER}' THEN o.previous_secret
           WHEN o.secrets[1] LIKE '$sha256$%' THEN o.secrets[1]
         END`;

// The box's row is locked, so `old` contains the replaced rows. A first creation writes no revocation: no session of
// a client that never existed can exist.
const upsert = `
WITH wanted AS MATERIALIZED (
  SELECT w.*, to_timestamp(w.revoked_before / 1000.0) AS revoked_at
    FROM jsonb_to_recordset($3::jsonb) AS w (kind text, id text, body jsonb, secrets jsonb, owner_cluster text,
         owner_name text, owner_uid text, digest text, retain boolean, purge boolean, revoked_before numeric,
         previous_kept boolean, previous_secret text, previous_until numeric)
), old AS MATERIALIZED (
  SELECT r.*, ${rowState} = 'changed' AS changed FROM boxgate.resource r JOIN wanted w ON r.box = $1::text AND r.kind = w.kind AND r.id = w.id
), risen AS (
  DELETE FROM boxgate.tombstone t USING wanted w WHERE t.box = $1::text AND t.kind = w.kind AND t.id = w.id
  RETURNING t.kind, t.id
), final AS MATERIALIZED (
  SELECT w.*, o.id IS NOT NULL AS existed, o.revoked_before AS old_revoked_at, o.sessions_from,
         o.secrets AS old_secrets,
         ${previousSecret} AS previous,
         CASE WHEN w.previous_kept THEN o.previous_until ELSE to_timestamp(w.previous_until / 1000.0) END AS until,
         o.previous_secret AS old_previous,
         ${isAnothers} OR (o.body -> 'active' IS DISTINCT FROM 'false' AND w.body -> 'active' = 'false') AS ends
    FROM wanted w LEFT JOIN old o ON o.kind = w.kind AND o.id = w.id
), revoked AS (
  INSERT INTO boxgate.revocation (box, subject, version)
  SELECT $1::text, 'client:' || f.id, $2::bigint
    FROM final f
   WHERE f.kind = 'Client' AND f.ends
     AND (f.existed OR EXISTS (SELECT FROM risen r WHERE r.kind = f.kind AND r.id = f.id))
  UNION ALL
  SELECT $1::text, 'client:' || f.id || ':before', f.revoked_before::bigint
    FROM final f WHERE f.kind = 'Client' AND f.existed AND f.revoked_at > COALESCE(f.old_revoked_at, '-infinity')
  UNION ALL
  SELECT $1::text, 'box', $2::bigint FROM final f WHERE f.kind = 'Box' AND f.ends AND f.body -> 'active' = 'false'
  UNION ALL
  SELECT $1::text, 'box:before', f.revoked_before::bigint
    FROM final f JOIN boxgate.box b ON b.box = $1::text
   WHERE f.kind = 'Box' AND f.revoked_at > COALESCE(b.revoked_before, '-infinity')
  ON CONFLICT DO NOTHING
), unused AS (
  UPDATE boxgate.client_usage u SET previous_used_at = NULL FROM final f
   WHERE f.kind = 'Client' AND f.old_previous IS NOT NULL AND f.previous IS DISTINCT FROM f.old_previous
     AND u.box = $1::text AND u.client = f.id AND u.previous_used_at IS NOT NULL
)
INSERT INTO boxgate.resource AS r (box, kind, id, version, sessions_from, revoked_before, body, secrets,
                                   previous_secret, previous_until, owner_cluster, owner_name, owner_uid, digest,
                                   retain, purge, content)
SELECT $1::text, f.kind, f.id, $2::bigint, CASE WHEN f.ends AND f.kind = 'Client' THEN $2::bigint ELSE COALESCE(f.sessions_from, 0) END,
       GREATEST(f.old_revoked_at, f.revoked_at), f.body,
       CASE WHEN f.secrets IS NULL THEN COALESCE(f.old_secrets, '{}')
            ELSE ARRAY(SELECT jsonb_array_elements_text(f.secrets)) END,
       f.previous, CASE WHEN f.previous IS NOT NULL THEN f.until END, f.owner_cluster, f.owner_name, f.owner_uid, f.digest, f.retain, f.purge, ''
  FROM final f
ON CONFLICT (box, kind, id) DO UPDATE
   SET version = excluded.version, sessions_from = excluded.sessions_from, revoked_before = excluded.revoked_before,
       body = excluded.body, secrets = excluded.secrets, previous_secret = excluded.previous_secret,
       previous_until = excluded.previous_until, owner_cluster = excluded.owner_cluster,
       owner_name = excluded.owner_name, owner_uid = excluded.owner_uid, digest = excluded.digest,
       retain = excluded.retain, purge = excluded.purge, content = '', updated_at = now()`;

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
  const { rows } = await connection.query<ResourceColumns>(remove, [
    box,
    version,
    keys.map(({ kind }) => kind),
    keys.map(({ id }) => id),
  ]);
  return rows.map(storedResource);
}

const remove = `
WITH gone AS (
  DELETE FROM boxgate.resource r USING unnest($3::text[], $4::text[]) AS k (kind, id)
   WHERE r.box = $1::text AND r.kind = k.kind AND r.id = k.id
  RETURNING ${resourceColumns}
), buried AS (
  INSERT INTO boxgate.tombstone AS t (box, kind, id, version) SELECT $1::text, g.kind, g.id, $2::bigint FROM gone g
  ON CONFLICT (box, kind, id) DO UPDATE SET version = excluded.version
), revoked AS (
  INSERT INTO boxgate.revocation (box, subject, version) SELECT $1::text, 'client:' || g.id, $2::bigint FROM gone g
   WHERE g.kind = 'Client'
  ON CONFLICT DO NOTHING
), uncounted AS (
  DELETE FROM boxgate.session_room s USING gone g WHERE s.box = $1::text AND g.kind = 'Client' AND s.client = g.id
), unused AS (
  DELETE FROM boxgate.client_usage u USING gone g WHERE u.box = $1::text AND g.kind = 'Client' AND u.client = g.id
), unrecorded AS (
  DELETE FROM boxgate.recorded_request q USING gone g
   WHERE q.box = $1::text AND g.kind = 'Client' AND q.client = g.id
), idle AS (
  DELETE FROM boxgate.policy_use u USING gone g WHERE u.box = $1::text AND g.kind = 'AccessPolicy' AND u.policy = g.id
)
SELECT * FROM gone`;
