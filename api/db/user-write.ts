import { countChanges } from './box/box-use.ts';
import { isUniqueViolation } from './core/outage.ts';
import { readUser } from './user.ts';
import type { StoredPassword, StoredUser, UserStatus } from './user.ts';
import type { Connection } from './core/transaction.ts';

/** A user about to be stored; `emailKey` is the normal form of the email: users with the same one conflict. */
export interface NewUser {
  readonly email: string;
  readonly emailKey: string;
  readonly emailVerified: boolean | null;
  readonly password: StoredPassword;
  readonly data: string | null;
  readonly status: UserStatus;
  /** True: it registered, and signs in once an administrator has approved. */
  readonly awaitsApproval?: boolean;
}

/** Stores a user under the next id of its box; undefined if its email is taken, however it is written there. */
export async function insertUser(connection: Connection, box: string, user: NewUser): Promise<number | undefined> {
  const id = await nextId(connection, box, 'User');
  const { rowCount } = await connection.query(
    `WITH stored AS (
       INSERT INTO boxgate.user (box, id, email, email_key, password, pepper, data, status, email_verified,
                                 awaits_approval)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (box, email_key) DO NOTHING RETURNING id
     ), counted AS (${countChanges("SELECT 'User', 0, 1 FROM stored")})
     SELECT FROM stored`,
    [
      box,
      id,
      user.email,
      user.emailKey,
      user.password.hash,
      user.password.pepper,
      user.data,
      user.status,
      user.emailVerified,
      user.awaitsApproval === true,
    ],
  );
  return rowCount === 1 ? id : undefined;
}

/** Fields of a user to change; omitted ones stay. */
export type UserChange = Partial<Omit<NewUser, 'awaitsApproval'>>;

/**
 * Changes the given fields of a user. A user who waits for approval and is let in is approved: that verifies the email,
 * unless `emailVerified` is given. `taken` if another user has the email, and the transaction must be rolled back;
 * undefined if there is no such user.
 */
export async function updateUser(
  connection: Connection,
  box: string,
  id: number,
  { email, emailKey, emailVerified, password, data, status }: UserChange,
): Promise<StoredUser | 'taken' | undefined> {
  try {
    await connection.query(
      `UPDATE boxgate.user
          SET email = coalesce($3, email), email_key = coalesce($4, email_key), password = coalesce($5, password),
              pepper = coalesce($6, pepper), data = CASE WHEN $7 THEN $8 ELSE data END,
              status = CASE WHEN $9 THEN $10 ELSE status END,
              email_verified = CASE WHEN $11 THEN $12
                                    WHEN $13 AND awaits_approval THEN true
                                    ELSE email_verified END,
              awaits_approval = awaits_approval AND NOT $13, updated_at = now()
        WHERE box = $1 AND id = $2`,
      [
        box,
        id,
        email,
        emailKey,
        password?.hash,
        password?.pepper,
        data !== undefined,
        data,
        status !== undefined,
        status,
        emailVerified !== undefined,
        emailVerified,
        status !== undefined && status !== 'inactive',
      ],
    );
  } catch (error) {
    if (isUniqueViolation(error, 'user_email')) return 'taken';
    throw error;
  }
  return readUser(connection, box, id);
}

/** A network that proved the password of a user; `at` in seconds since 1970. */
interface ProvenNetwork {
  readonly user: number;
  readonly network: string;
  readonly at: number;
}

/** Stores a network as the latest of a user, and keeps the last five of them. Call it in a `write` transaction. */
export async function storeNetwork(
  connection: Connection,
  box: string,
  { user, network, at }: ProvenNetwork,
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.user u SET networks = (
       SELECT jsonb_object_agg(latest.network, latest.at)
         FROM (SELECT $3::text AS network, $4::bigint AS at
               UNION ALL SELECT key, value::bigint FROM jsonb_each_text(u.networks) WHERE key <> $3
               ORDER BY at DESC LIMIT 5) AS latest)
      WHERE u.box = $1 AND u.id = $2`,
    [box, user, network, at],
  );
}

/** Deletes a user and its memberships; returns whether it existed. */
export async function deleteUser(connection: Connection, box: string, id: number): Promise<boolean> {
  return (await deleteUsers(connection, box, 'id = $2', id)) === 1;
}

/** Deletes the users of box `$1` that meet a condition on `$2`; returns how many. */
export async function deleteUsers(
  connection: Connection,
  box: string,
  condition: string,
  value: number,
): Promise<number> {
  const { rowCount } = await connection.query(
    `WITH deleted AS (DELETE FROM boxgate.user WHERE box = $1 AND ${condition} RETURNING id),
          counted AS (${countChanges("SELECT 'User', 0, -1 FROM deleted")})
     SELECT FROM deleted`,
    [box, value],
  );
  return rowCount ?? 0;
}

/**
 * Ends everything a user has begun, under the box's new config version (bumpVersion): sessions and refresh families
 * decided under an older one are no longer valid, including those in progress.
 */
export async function endUserSessions(connection: Connection, box: string, version: number, id: number): Promise<void> {
  await connection.query('UPDATE boxgate.user SET sessions_from = $3 WHERE box = $1 AND id = $2', [box, id, version]);
  await connection.query(
    `INSERT INTO boxgate.revocation (box, subject, version) VALUES ($1, 'user:' || $2::bigint, $3) ON CONFLICT DO NOTHING`,
    [box, id, version],
  );
}

/** Sets the groups of a user to exactly these; if some do not exist, changes nothing and returns them. */
export async function setGroupsOfUser(
  connection: Connection,
  box: string,
  user: number,
  groups: readonly number[],
): Promise<readonly number[]> {
  // Locked, so that no group is deleted before its member is stored.
  const { rows } = await connection.query<{ id: string }>(
    'SELECT id FROM boxgate.group WHERE box = $1 AND id = ANY ($2::bigint[]) ORDER BY id FOR KEY SHARE',
    [box, groups],
  );
  const found = new Set(rows.map(({ id }) => Number(id)));
  const missing = groups.filter((id) => !found.has(id));
  if (missing.length > 0) return missing;
  await connection.query(
    'DELETE FROM boxgate.group_member WHERE box = $1 AND user_id = $2 AND NOT group_id = ANY ($3::bigint[])',
    [box, user, groups],
  );
  await connection.query(
    `INSERT INTO boxgate.group_member (box, user_id, group_id)
     SELECT $1, $2, g.id FROM unnest($3::bigint[]) AS g (id) ON CONFLICT DO NOTHING`,
    [box, user, groups],
  );
  return [];
}

/** Kinds whose id the service assigns: an integer, counted from 1 in each box, so that it reveals nothing of others. */
type NumberedKind = 'User' | 'Group';

/**
 * Takes the next id of a kind in a box. The counter is locked until the transaction ends; a rollback returns the id,
 * and a committed one is never used again, even after its row is deleted.
 */
export async function nextId(connection: Connection, box: string, kind: NumberedKind): Promise<number> {
  const { rows } = await connection.query<{ id: string }>(
    `INSERT INTO boxgate.last_id AS l (box, kind, id) VALUES ($1, $2, 1)
     ON CONFLICT (box, kind) DO UPDATE SET id = l.id + 1 RETURNING id`,
    [box, kind],
  );
  return Number(rows[0]?.id);
}
