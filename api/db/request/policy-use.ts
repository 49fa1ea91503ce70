import type { Connection } from '../core/transaction.ts';

/** A policy of a box, and the time at which it last granted a request. */
export interface PolicyUse {
  readonly id: string;
  readonly createdAt: Date;
  /** Undefined if no use is recorded. */
  readonly lastUsedAt: Date | undefined;
}

/** Reads the policies of a box by id, each with its last use. A use before the policy was created is another's. */
export async function readPolicyUse(connection: Connection, box: string): Promise<readonly PolicyUse[]> {
  const { rows } = await connection.query<{ id: string; created_at: Date; last_used_at: Date | null }>(
    `SELECT r.id, r.created_at, u.last_used_at
       FROM boxgate.resource r
       LEFT JOIN boxgate.policy_use u ON u.box = r.box AND u.policy = r.id AND u.last_used_at >= r.created_at
      WHERE r.box = $1 AND r.kind = 'AccessPolicy' ORDER BY r.id`,
    [box],
  );
  return rows.map(({ id, created_at, last_used_at }) => ({
    id,
    createdAt: created_at,
    lastUsedAt: last_used_at ?? undefined,
  }));
}

/** A policy that has granted a request, and the last time it did. */
export type UsedPolicy = Pick<PolicyUse, 'id'> & { readonly lastUsedAt: Date };

/** Reads the policies that a cluster declares in a box and that have granted a request, by id. */
export async function readUsedPolicies(
  connection: Connection,
  box: string,
  cluster: string,
): Promise<readonly UsedPolicy[]> {
  const { rows } = await connection.query<{ id: string; last_used_at: Date }>(
    `SELECT r.id, u.last_used_at
       FROM boxgate.resource r
       JOIN boxgate.policy_use u ON u.box = r.box AND u.policy = r.id AND u.last_used_at >= r.created_at
      WHERE r.box = $1 AND r.kind = 'AccessPolicy' AND r.owner_cluster = $2 ORDER BY r.id`,
    [box, cluster],
  );
  return rows.map(({ id, last_used_at }) => ({ id, lastUsedAt: last_used_at }));
}

/** Reads the time since which the use of policies is recorded: that of the schema. */
export async function recordedSince(connection: Connection): Promise<Date> {
  const { rows } = await connection.query<{ applied_at: Date }>(
    'SELECT min(applied_at) AS applied_at FROM boxgate.schema_version HAVING count(*) > 0',
  );
  const since = rows[0]?.applied_at;
  if (since === undefined) throw new TypeError('the database has no schema');
  return since;
}
