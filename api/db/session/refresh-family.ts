import type { FirstGrant } from './record.ts';
import type { Connection } from '../core/transaction.ts';
import type { Person } from '../user.ts';

/** A refresh family as stored; times in milliseconds since 1970, hashes hexadecimal. */
export interface RefreshFamily {
  readonly id: string;
  readonly client: string;
  readonly user: number | null;
  /** The grant that it came from. */
  readonly grant: FirstGrant;
  /** True if its user is deleted or inactive, or has since ended everything begun then. */
  readonly userGone: boolean;
  /** Its user as it is now; null if it has none, or the user is gone. */
  readonly person: Person | null;
  /** Time of the user's sign-in; null for a client's own. */
  readonly authenticatedAt: number | null;
  /** The config version it began under. */
  readonly version: number;
  readonly familyHash: string;
  readonly tokenHash: string;
  readonly generation: number;
  readonly successor: Buffer | null;
  readonly rotatedAt: number | null;
  readonly session: string;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endsAt: number;
  readonly ended: boolean;
}

/** A family about to begin. */
export type NewRefreshFamily = Pick<
  RefreshFamily,
  | 'id'
  | 'client'
  | 'user'
  | 'grant'
  | 'authenticatedAt'
  | 'version'
  | 'familyHash'
  | 'tokenHash'
  | 'session'
  | 'scope'
  | 'audience'
  | 'createdAt'
  | 'expiresAt'
  | 'endsAt'
> & { readonly box: string; readonly sessionsEnd: number };

/**
 * Stores a family, and revokes all but the 100 most recently used families of its user at its client; upkeep deletes
 * them a day later. Call it before its first session is stored, in the same transaction.
 */
export async function insertFamily(connection: Connection, family: NewRefreshFamily): Promise<void> {
  await connection.query(
    `WITH oldest AS MATERIALIZED (
       SELECT f.id FROM boxgate.refresh_family f
        WHERE f.box = $1 AND f.ended_at IS NULL AND f.id IN (
              SELECT o.id FROM boxgate.refresh_family o
               WHERE o.box = $1 AND o.user_id = $14 AND o.client = $3 AND o.ended_at IS NULL
               ORDER BY o.last_used_at DESC, o.id DESC OFFSET 99)
          FOR UPDATE SKIP LOCKED
     ), ended AS (
       UPDATE boxgate.refresh_family f SET ended_at = now(), ended_as = 'revoked', expires_at = least(f.expires_at, now())
         FROM oldest o WHERE f.box = $1 AND f.id = o.id
     )
     INSERT INTO boxgate.refresh_family (box, id, client, version, family_hash, token_hash, session, scope, created_at,
                                         last_used_at, expires_at, ends_at, sessions_end, audience, user_id, grant_type,
                                         authenticated_at)
     VALUES ($1, $2, $3, $4, decode($5, 'hex'), decode($6, 'hex'), $7, $8, to_timestamp($9 / 1000.0),
             to_timestamp($9 / 1000.0), to_timestamp($10 / 1000.0), to_timestamp($11 / 1000.0),
             to_timestamp($12 / 1000.0), $13, $14, $15, to_timestamp($16 / 1000.0))`,
    [
      family.box,
      family.id,
      family.client,
      family.version,
      family.familyHash,
      family.tokenHash,
      family.session,
      family.scope,
      family.createdAt,
      family.expiresAt,
      family.endsAt,
      family.sessionsEnd,
      family.audience,
      family.user,
      family.grant,
      family.authenticatedAt,
    ],
  );
}

/** Columns of a family, other than what {@link familyOf} is told; times in milliseconds since 1970. */
export interface FamilyColumns {
  readonly id: string;
  readonly client: string;
  readonly user_id: string | null;
  readonly grant_type: FirstGrant;
  readonly person: Person | null;
  readonly authenticated: string | null;
  readonly version: string;
  readonly token_hash: string;
  readonly generation: number;
  readonly successor: Buffer | null;
  readonly rotated: string | null;
  readonly session: string;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly created: string;
  readonly expires: string;
  readonly ends: string;
}

interface LockedRow extends FamilyColumns {
  readonly family_hash: string;
  readonly ended: boolean;
}

/** Reads a family and locks its row until the transaction ends: a refresh and a close take the same lock. */
export async function lockFamily(connection: Connection, box: string, id: string): Promise<RefreshFamily | undefined> {
  const { rows } = await connection.query<LockedRow>(
    `SELECT id, client, user_id, grant_type, version, generation, successor, session, scope, audience,
            encode(family_hash, 'hex') AS family_hash, encode(token_hash, 'hex') AS token_hash,
            ${millisecondsAt('rotated_at')} AS rotated, ${millisecondsAt('created_at')} AS created,
            ${millisecondsAt('expires_at')} AS expires, ${millisecondsAt('ends_at')} AS ends,
            ${millisecondsAt('authenticated_at')} AS authenticated, ended_at IS NOT NULL AS ended,
            CASE WHEN user_id IS NOT NULL THEN boxgate.living_user(box, user_id, version) END AS person
       FROM boxgate.refresh_family WHERE box = $1 AND id = $2 FOR UPDATE`,
    [box, id],
  );
  return rows[0] === undefined ? undefined : familyOf(rows[0], rows[0].family_hash, rows[0].ended);
}

function millisecondsAt(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000)::bigint`;
}

/** Converts the columns of a family for the rest of the service. */
export function familyOf(row: FamilyColumns, familyHash: string, ended: boolean): RefreshFamily {
  return {
    id: row.id,
    client: row.client,
    user: numberOrNull(row.user_id),
    grant: row.grant_type,
    userGone: row.user_id !== null && row.person === null,
    person: row.person,
    authenticatedAt: numberOrNull(row.authenticated),
    version: Number(row.version),
    familyHash,
    tokenHash: row.token_hash,
    generation: row.generation,
    successor: row.successor,
    rotatedAt: numberOrNull(row.rotated),
    session: row.session,
    scope: row.scope,
    audience: row.audience,
    createdAt: Number(row.created),
    expiresAt: Number(row.expires),
    endsAt: Number(row.ends),
    ended,
  };
}

function numberOrNull(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** Stores a use: the newest session, its end, and the new sliding end; times in milliseconds since 1970. */
export async function slideFamily(
  connection: Connection,
  box: string,
  id: string,
  use: { readonly session: string; readonly now: number; readonly expiresAt: number; readonly sessionEnd: number },
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.refresh_family
        SET session = $3, last_used_at = to_timestamp($4 / 1000.0), expires_at = to_timestamp($5 / 1000.0),
            sessions_end = greatest(sessions_end, to_timestamp($6 / 1000.0))
      WHERE box = $1 AND id = $2`,
    [box, id, use.session, use.now, use.expiresAt, use.sessionEnd],
  );
}

/** Moves a family to its next token; `successor` is that token, sealed for the holder of the previous one. */
export async function rotateFamily(
  connection: Connection,
  box: string,
  id: string,
  next: { readonly generation: number; readonly tokenHash: string; readonly successor: Buffer; readonly now: number },
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.refresh_family
        SET generation = $3, token_hash = decode($4, 'hex'), successor = $5, rotated_at = to_timestamp($6 / 1000.0)
      WHERE box = $1 AND id = $2`,
    [box, id, next.generation, next.tokenHash, next.successor, next.now],
  );
}
