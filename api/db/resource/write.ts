import { boxLock } from '../box/box.ts';
import { countChanges } from '../box/box-use.ts';
import type { Connection } from '../core/transaction.ts';
import type { ResourceKey } from './resource.ts';

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
WITH present AS (
  SELECT r.kind, boxgate.bytes_of(r.body) AS bytes
    FROM unnest($3::text[], $4::text[]) AS k (kind, id)
    JOIN boxgate.resource r ON r.box = $1::text AND r.kind = k.kind AND r.id = k.id
), released AS (
  UPDATE boxgate.resource r
     SET version = $2::bigint, owner_cluster = NULL, owner_name = NULL, owner_uid = NULL, digest = NULL, retain = false,
         body = CASE WHEN r.kind = 'Client' AND r.body -> 'first_party' = 'true'
                     THEN r.body || '{"first_party": false}' ELSE r.body END,
         updated_at = now()
    FROM unnest($3::text[], $4::text[]) AS k (kind, id)
   WHERE r.box = $1::text AND r.kind = k.kind AND r.id = k.id
  RETURNING r.kind, boxgate.bytes_of(r.body) AS bytes
)
${countChanges('SELECT kind, bytes, -1 FROM present UNION ALL SELECT kind, bytes, 1 FROM released')}`;

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
     UPDATE boxgate.resource r SET version = $2::bigint, sessions_from = $2::bigint, updated_at = now()
       FROM unnest($3::text[]) AS c (id)
      WHERE r.box = $1::text AND r.kind = 'Client' AND r.id = c.id`,
    [box, version, clients],
  );
}

/**
 * Deletes resources under the box's new config version (bumpVersion), in one statement.
 * Leaves a tombstone of each, and revokes all sessions of the deleted clients, which are no longer counted.
 */
export async function deleteResources(
  connection: Connection,
  box: string,
  version: number,
  keys: readonly ResourceKey[],
): Promise<void> {
  const values = [box, version, keys.map(({ kind }) => kind), keys.map(({ id }) => id)];
  await connection.query(remove, values);
}

const remove = `
WITH gone AS (
  DELETE FROM boxgate.resource r USING unnest($3::text[], $4::text[]) AS k (kind, id)
   WHERE r.box = $1::text AND r.kind = k.kind AND r.id = k.id
  RETURNING r.kind, r.id, boxgate.bytes_of(r.body) AS bytes
), buried AS (
  INSERT INTO boxgate.tombstone AS t (box, kind, id, version) SELECT $1::text, g.kind, g.id, $2::bigint FROM gone g
  ON CONFLICT (box, kind, id) DO UPDATE SET version = excluded.version
), revoked AS (
  INSERT INTO boxgate.revocation (box, subject, version)
  SELECT $1::text, 'client:' || g.id, $2::bigint FROM gone g WHERE g.kind = 'Client'
  ON CONFLICT DO NOTHING
), uncounted AS (
  DELETE FROM boxgate.session_room s USING gone g WHERE s.box = $1::text AND g.kind = 'Client' AND s.client = g.id
), unused AS (
  DELETE FROM boxgate.client_usage u USING gone g WHERE u.box = $1::text AND g.kind = 'Client' AND u.client = g.id
), unrecorded AS (
  DELETE FROM boxgate.recorded_request q USING gone g WHERE q.box = $1::text AND g.kind = 'Client' AND q.client = g.id
), unpolicied AS (
  DELETE FROM boxgate.policy_use u USING gone g
   WHERE u.box = $1::text AND g.kind = 'AccessPolicy' AND u.policy = g.id
)
${countChanges('SELECT kind, bytes, -1 FROM gone')}`;
