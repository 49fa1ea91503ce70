import { hash } from 'node:crypto';
import type { Connection } from '../core/transaction.ts';

/** The scopes that a user grants a client at one {@link ConsentTarget}. */
export interface Consent {
  readonly scopes: readonly string[];
  /** The config version it was given under. */
  readonly version: number;
}

/** The redirect URI and the audience that a consent is for. */
export interface ConsentTarget {
  /** The redirect URI as configured for the client. */
  readonly redirectUri: string;
  /** Null: the box itself, its issuer. */
  readonly audience: string | null;
}

/** The user, the client and the target of a consent. */
export interface ConsentKey {
  readonly user: number;
  readonly client: string;
  readonly target: ConsentTarget;
}

/** A consent about to be stored. */
export interface NewConsent extends Consent {
  /** The config version since which older consents are for the same client. */
  readonly since: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Reads the consent of a user to a client at a target; undefined: none yet. */
export async function readConsent(
  connection: Connection,
  box: string,
  { user, client, target }: ConsentKey,
): Promise<Consent | undefined> {
  const { rows } = await connection.query<{ readonly scopes: readonly string[]; readonly version: string }>(
    `SELECT scopes, version FROM boxgate.consent_target
      WHERE box = $1 AND user_id = $2 AND client = $3 AND target = decode($4, 'hex')`,
    [box, user, client, targetKey(target)],
  );
  const [row] = rows;
  return row && { scopes: row.scopes, version: Number(row.version) };
}

/** Returns the key of a target, 64 hexadecimal digits: its parts are too long for an index. */
function targetKey({ redirectUri, audience }: ConsentTarget): string {
  return hash('sha256', JSON.stringify([redirectUri, audience]), 'hex');
}

/**
 * Stores a consent under the current config version, in addition to the scopes given for its target under `since` or
 * later: an older consent was for a deleted client. Creates the Grant, or adds the scopes to it.
 */
export async function storeConsent(
  connection: Connection,
  box: string,
  { user, client, target }: ConsentKey,
  { scopes, version, since, createdAt }: NewConsent,
): Promise<void> {
  const parameters = [box, user, client, scopes, version, createdAt, since];
  await connection.query(
    `INSERT INTO boxgate.consent AS c (box, user_id, client, scopes, version, created_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6 / 1000.0))
     ON CONFLICT (box, user_id, client) DO UPDATE SET ${added}`,
    parameters,
  );
  await connection.query(
    `INSERT INTO boxgate.consent_target AS c
       (box, user_id, client, scopes, version, created_at, target, redirect_uri, audience)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6 / 1000.0), decode($8, 'hex'), $9, $10)
     ON CONFLICT (box, user_id, client, target) DO UPDATE SET ${added}`,
    [...parameters, targetKey(target), target.redirectUri, target.audience],
  );
}

/** SQL that adds the scopes to those of the row `c`, unless it is older than `$7`. */
const added = `version = excluded.version, created_at = excluded.created_at,
  scopes = CASE WHEN c.version < $7::bigint THEN excluded.scopes
                ELSE c.scopes || ARRAY(SELECT s FROM unnest(excluded.scopes) AS s WHERE s <> ALL (c.scopes)) END`;
