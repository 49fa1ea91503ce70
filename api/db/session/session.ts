import { notDiscarded } from '../box/box-data.ts';
import type { NewSession } from '../hot/issue.ts';
import { momentAt } from '../core/keyset.ts';
import { lockFamily } from './refresh-family.ts';
import { bucketOfSession, filledBuckets, isBucketWithin } from './bucket.ts';
import { endingJoin, sessionColumns, sessionRecord, sessionStatus } from './record.ts';
import type { SessionColumns, SessionRecord } from './record.ts';
import type { Connection } from '../core/transaction.ts';

/** Ways of ending a session before it expires. */
export type SessionEnd = 'closed' | 'revoked';

/** End of a session: its way, and its time. */
export interface SessionEnding {
  readonly as: SessionEnd;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Stores one session inside the transaction that decides about it: for a family's newest access token, or without a
 * family. `parent` is the session that was refreshed, null for the first.
 */
export async function insertSession(
  connection: Connection,
  session: NewSession,
  family: string | null,
  parent: string | null,
): Promise<void> {
  await connection.query(
    `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, scope,
                                  audience, user_id, user_agent, family, parent)
     VALUES ($1, $2, to_timestamp($3), $4, $5, $6, $7, decode($8, 'hex'), $9, $10, $11, $12, $13, $14, $15)`,
    [
      session.id,
      session.version,
      session.expiresAt,
      session.bucket,
      session.type,
      session.box,
      session.client,
      session.hash,
      session.remoteAddr,
      session.scope,
      session.audience,
      session.user,
      session.userAgent,
      family,
      parent,
    ],
  );
}

/** Reads one session; undefined if there is none. `now` in milliseconds since 1970. */
export async function readSession(
  connection: Connection,
  box: string,
  id: string,
  now: number,
): Promise<SessionRecord | undefined> {
  const { rows } = await connection.query<SessionColumns>(
    `SELECT ${sessionColumns('$4')} FROM boxgate.session s ${endingJoin('$1')}
      WHERE s.box = $1 AND s.id = $2 AND s.bucket = $3 AND ${notDiscarded}`,
    [box, id, bucketOfSession(id), now],
  );
  return rows[0] === undefined ? undefined : sessionRecord(rows[0]);
}

/** A session after {@link endSession}. */
export interface EndedSession {
  readonly session: SessionRecord;
  /** True if it was active before. */
  readonly ended: boolean;
}

/**
 * Ends a session if it is active, and in any case its refresh family with all active sessions; undefined if there is
 * no such session. From the commit on every check refuses its token. Call it in a `write` transaction.
 */
export async function endSession(
  connection: Connection,
  box: string,
  id: string,
  ending: SessionEnding,
): Promise<EndedSession | undefined> {
  const { as, now } = ending;
  const found = await readSession(connection, box, id, now);
  if (found === undefined) return undefined;
  // The family first, then its sessions: the order in which a refresh locks them.
  if (found.family !== undefined) await lockFamily(connection, box, found.family);
  const { rowCount } = await connection.query(
    `UPDATE boxgate.session s SET ended_at = ${momentAt('$5')}, ended_as = $4
      WHERE s.box = $1 AND s.id = $2 AND s.bucket = $3 AND ${sessionStatus('$5')} = 'active'`,
    [box, found.id, found.bucket, as, now],
  );
  if (found.family !== undefined) await endFamily(connection, box, found.family, ending);
  const session = await readSession(connection, box, found.id, now);
  return session === undefined ? undefined : { session, ended: rowCount === 1 };
}

/** Ends one refresh family as {@link endFamilies} does. */
export function endFamily(connection: Connection, box: string, family: string, ending: SessionEnding): Promise<void> {
  return endFamilies(connection, box, [family], ending);
}

/**
 * Ends refresh families that have not ended, and marks their active sessions, so that a search for ended sessions finds
 * them by their own rows. Call it in a `write` transaction; locks the rows of the families first, in the order of their
 * IDs, then the sessions.
 */
export async function endFamilies(
  connection: Connection,
  box: string,
  families: readonly string[],
  { as, now }: SessionEnding,
): Promise<void> {
  if (families.length === 0) return;
  const { rows } = await connection.query<{ id: string }>(
    `UPDATE boxgate.refresh_family f SET ended_at = ${momentAt('$4')}, ended_as = $3
       FROM (SELECT id FROM boxgate.refresh_family
              WHERE box = $1 AND id = ANY ($2::uuid[]) AND ended_at IS NULL ORDER BY id FOR NO KEY UPDATE) AS living
      WHERE f.box = $1 AND f.id = living.id RETURNING f.id`,
    [box, families, as, now],
  );
  if (rows.length === 0) return;
  const buckets = (await filledBuckets(connection)).filter((bucket) => isBucketWithin(bucket, { from: now }));
  await connection.query(
    `UPDATE boxgate.session SET ended_at = ${momentAt('$5')}, ended_as = $4
      WHERE box = $1 AND family = ANY ($2::uuid[]) AND bucket = ANY ($3::int[]) AND ended_at IS NULL
        AND expires_at > ${momentAt('$5')}`,
    [box, rows.map(({ id }) => id), buckets, as, now],
  );
}

/** Ends those of some sessions that are active. Call it in a `write` transaction. */
export async function endSessions(
  connection: Connection,
  box: string,
  sessions: readonly string[],
  { as, now }: SessionEnding,
): Promise<void> {
  const living = sessions.filter((id) => isBucketWithin(bucketOfSession(id), { from: now }));
  if (living.length === 0) return;
  await connection.query(
    `UPDATE boxgate.session SET ended_at = ${momentAt('$5')}, ended_as = $4
      WHERE box = $1 AND id = ANY ($2::uuid[]) AND bucket = ANY ($3::int[]) AND ended_at IS NULL
        AND expires_at > ${momentAt('$5')}`,
    [box, living, [...new Set(living.map(bucketOfSession))], as, now],
  );
}
