import { NEVER } from '../../../crds/duration.ts';
import { countChanges } from '../box/box-use.ts';
import type { Connection } from '../core/transaction.ts';
import { isAnothers, ownerOf } from './resource.ts';
import type { Owner, OwnerColumns, PreviousSecret, ResourceKey } from './resource.ts';

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
 * A previous secret taken from the row, the one that applications use now: the client's current secret, or,
 * if that is the new one already or was never shown (NEVER), its previous one.
 */
interface KeptPrevious {
  readonly stored: undefined;
  /** Milliseconds since 1970: from then on it is not valid. */
  readonly until: number;
}

/**
 * Stores resources under the box's new config version (bumpVersion), however many they are. Sessions decided earlier
 * are revoked when a client is new, becomes inactive, or gets another owner (not when it loses its owner: a retained
 * client stays valid), and when a Box becomes inactive. The highest `revoke_sessions_before` ever stored stays in
 * force. Call it while the box is locked, so that the rows that it reads do not change.
 */
export async function storeResources(
  connection: Connection,
  box: string,
  version: number,
  resources: readonly ResourceWrite[],
): Promise<void> {
  if (resources.length === 0) return;
  const present = await presentRows(connection, box, resources);
  const changes = resources.map((write) => changeOf(write, present.get(keyOf(write))));
  const revocations = changes.flatMap((change) => revocationsOf(change, version));
  if (revocations.length > 0) await connection.query(revoke, [box, JSON.stringify(revocations)]);
  await connection.query(upsert, [box, version, JSON.stringify(changes.map((change) => rowOf(change, version)))]);
  await followResources(connection, box, version, resources);
}

/** A row before it is stored. */
interface PresentRow {
  readonly exists: boolean;
  /** True if a resource of this name was deleted before. */
  readonly wasDeleted: boolean;
  readonly owner: Owner | undefined;
  readonly isActive: boolean;
  readonly secrets: readonly string[];
  readonly previous: PreviousSecret | undefined;
  readonly sessionsFrom: number;
  /** Milliseconds since 1970: the highest moment that the resource, or the box, ever had. */
  readonly revokedBefore: number;
}

interface PresentColumns extends ResourceKey, OwnerColumns {
  readonly exists: boolean;
  readonly was_deleted: boolean;
  readonly is_active: boolean;
  readonly secrets: readonly string[] | null;
  readonly previous_secret: string | null;
  readonly previous_until: Date | null;
  readonly sessions_from: string | null;
  readonly revoked_before: Date | null;
}

/** Reads the rows of the keys, by `<kind>/<id>`. */
async function presentRows(
  connection: Connection,
  box: string,
  keys: readonly ResourceKey[],
): Promise<ReadonlyMap<string, PresentRow>> {
  const { rows } = await connection.query<PresentColumns>(
    `SELECT k.kind, k.id, r.id IS NOT NULL AS exists, t.id IS NOT NULL AS was_deleted, r.owner_cluster, r.owner_name,
            r.owner_uid, r.body -> 'active' IS DISTINCT FROM 'false' AS is_active, r.secrets, r.previous_secret,
            r.previous_until, r.sessions_from,
            CASE k.kind WHEN 'Box' THEN b.revoked_before ELSE r.revoked_before END AS revoked_before
       FROM unnest($2::text[], $3::text[]) AS k (kind, id)
       JOIN boxgate.box b ON b.box = $1
       LEFT JOIN boxgate.resource r ON r.box = $1 AND r.kind = k.kind AND r.id = k.id
       LEFT JOIN boxgate.tombstone t ON t.box = $1 AND t.kind = k.kind AND t.id = k.id`,
    [box, keys.map(({ kind }) => kind), keys.map(({ id }) => id)],
  );
  return new Map(rows.map((row) => [keyOf(row), presentRow(row)]));
}

function presentRow(row: PresentColumns): PresentRow {
  return {
    exists: row.exists,
    wasDeleted: row.was_deleted,
    owner: ownerOf(row),
    isActive: row.is_active,
    secrets: row.secrets ?? [],
    previous:
      row.previous_secret === null || row.previous_until === null
        ? undefined
        : { stored: row.previous_secret, until: row.previous_until.getTime() },
    sessionsFrom: Number(row.sessions_from),
    revokedBefore: row.revoked_before?.getTime() ?? -Infinity,
  };
}

function keyOf({ kind, id }: ResourceKey): string {
  return `${kind}/${id}`;
}

/** A write, and the row that it replaces. */
interface Change {
  readonly write: ResourceWrite;
  readonly present: PresentRow;
  /** True if the row is new, or was another owner's: its sessions and secrets are not those of this one. */
  readonly isTaken: boolean;
  /** True if the sessions that were decided earlier end. */
  readonly endsSessions: boolean;
}

function changeOf(write: ResourceWrite, present: PresentRow | undefined): Change {
  if (present === undefined) throw new Error('no row of the box');
  const isTaken = !present.exists || (write.owner !== undefined && isAnothers(present.owner, write.owner));
  return { write, present, isTaken, endsSessions: isTaken || (present.isActive && write.body['active'] === false) };
}

/** A row of the table of revocations: `version` is a version of the box, or for `:before` a time in milliseconds. */
interface Revocation {
  readonly subject: string;
  readonly version: number;
}

function revocationsOf({ write, present, endsSessions }: Change, version: number): readonly Revocation[] {
  const { kind, id, body } = write;
  if (kind !== 'Client' && kind !== 'Box') return [];
  const subject = kind === 'Box' ? 'box' : `client:${id}`;
  const moment = momentOf(body);
  // A client that never existed has no sessions.
  const mayHaveSessions = kind === 'Box' ? body['active'] === false : present.exists || present.wasDeleted;
  const revokesOlder = moment !== undefined && moment > present.revokedBefore && (kind === 'Box' || present.exists);
  return [
    ...(endsSessions && mayHaveSessions ? [{ subject, version }] : []),
    ...(revokesOlder ? [{ subject: `${subject}:before`, version: moment }] : []),
  ];
}

const revoke = `
INSERT INTO boxgate.revocation (box, subject, version)
SELECT $1, w.subject, w.version FROM jsonb_to_recordset($2::jsonb) AS w (subject text, version bigint)
ON CONFLICT DO NOTHING`;

/** Returns the columns of the new row. */
function rowOf(change: Change, version: number) {
  const { write, present, endsSessions } = change;
  const { kind, id, body, secrets = present.secrets, owner, digest, retain = false, purge = false } = write;
  const previous = previousOf(change);
  return {
    ...{ kind, id, body, secrets, digest, retain, purge },
    previous_secret: previous?.stored,
    previous_until: previous?.until,
    drops_previous: kind === 'Client' && present.previous !== undefined && previous?.stored !== present.previous.stored,
    owner_cluster: owner?.cluster,
    owner_name: owner?.name,
    owner_uid: owner?.uid,
    sessions_from: kind === 'Client' && endsSessions ? version : present.sessionsFrom,
    revoked_before: momentOf(body),
  };
}

function momentOf({ revoke_sessions_before: moment }: ResourceWrite['body']): number | undefined {
  return typeof moment === 'string' ? Date.parse(moment) : undefined;
}

const never = Date.parse(NEVER);

/** Returns the previous secret to store; undefined: none. */
function previousOf({ write, present, isTaken }: Change): PreviousSecret | undefined {
  const { previous } = write;
  if (previous === null) return undefined;
  if (previous === undefined) return write.owner === undefined || !isTaken ? present.previous : undefined;
  if (previous.stored !== undefined) return previous;
  if (isTaken) return undefined;
  const { until } = previous;
  const [current] = present.secrets;
  const isKept = (write.secrets ?? present.secrets)[0] === current || present.previous?.until === never;
  if (isKept) return present.previous && { ...present.previous, until };
  // A chosen secret is not kept for an operator: the generated one is meant to replace it.
  const isLost = current === undefined || (write.owner !== undefined && !current.startsWith('$sha256$'));
  return isLost ? undefined : { stored: current, until };
}

const upsert = `
WITH wanted AS MATERIALIZED (
  SELECT w.* FROM jsonb_to_recordset($3::jsonb) AS w (kind text, id text, body jsonb, secrets text[], previous_secret text,
         previous_until numeric, drops_previous boolean, owner_cluster text, owner_name text, owner_uid text, digest text,
         retain boolean, purge boolean, sessions_from bigint, revoked_before numeric)
), risen AS (
  DELETE FROM boxgate.tombstone t USING wanted w WHERE t.box = $1::text AND t.kind = w.kind AND t.id = w.id
), unused AS (
  UPDATE boxgate.client_usage u SET previous_used_at = NULL FROM wanted w
   WHERE u.box = $1::text AND u.client = w.id AND w.drops_previous AND u.previous_used_at IS NOT NULL
), present AS (
  SELECT r.kind, boxgate.bytes_of(r.body) AS bytes FROM boxgate.resource r JOIN wanted w ON r.kind = w.kind AND r.id = w.id
   WHERE r.box = $1::text
), stored AS (
  INSERT INTO boxgate.resource AS r (box, kind, id, version, sessions_from, revoked_before, body, secrets, previous_secret,
                                     previous_until, owner_cluster, owner_name, owner_uid, digest, retain, purge)
  SELECT $1::text, w.kind, w.id, $2::bigint, w.sessions_from, to_timestamp(w.revoked_before / 1000.0), w.body, w.secrets,
         w.previous_secret, to_timestamp(w.previous_until / 1000.0), w.owner_cluster, w.owner_name, w.owner_uid, w.digest,
         w.retain, w.purge
    FROM wanted w
  ON CONFLICT (box, kind, id) DO UPDATE
     SET version = excluded.version, sessions_from = excluded.sessions_from,
         revoked_before = greatest(r.revoked_before, excluded.revoked_before), body = excluded.body,
         secrets = excluded.secrets, previous_secret = excluded.previous_secret, previous_until = excluded.previous_until,
         owner_cluster = excluded.owner_cluster, owner_name = excluded.owner_name, owner_uid = excluded.owner_uid,
         digest = excluded.digest, retain = excluded.retain, purge = excluded.purge, updated_at = now()
  RETURNING r.kind, boxgate.bytes_of(r.body) AS bytes
)
${countChanges('SELECT kind, bytes, -1 FROM present UNION ALL SELECT kind, bytes, 1 FROM stored')}`;

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
