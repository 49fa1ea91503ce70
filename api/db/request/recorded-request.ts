import type { Connections } from '../core/pool.ts';
import { outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/** Key of requests that are counted together: same caller, same method and shape of path, same decision. */
export interface RequestKey {
  readonly box: string;
  /** Client of the token; empty: there was no token. */
  readonly client: string;
  /** `client`, `user`, `limited` or `group:<id>`; see the column `principal` of `recorded_request`. */
  readonly principal: string;
  /** App behind a gateway; empty: the own endpoints of the box. */
  readonly app: string;
  readonly method: string;
  readonly shape: string;
  /** The policy that granted them; empty: none did. */
  readonly policy: string;
}

/** A count of requests with the same key; times in milliseconds since 1970. */
export interface RequestCount extends RequestKey {
  readonly requests: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Adds counts of requests of any boxes in one statement; skips boxes that do not exist. Throws Outage. */
export function storeRequests(pool: Connections, counts: readonly RequestCount[]): Promise<void> {
  const rows = counts.map(({ firstSeen, lastSeen, ...count }) => ({
    ...count,
    first_seen: firstSeen,
    last_seen: lastSeen,
  }));
  return outsideBoxes(pool, async (connection) => {
    await connection.query('SELECT boxgate.record_requests($1::jsonb)', [JSON.stringify(rows)]);
  });
}

/** Limits of the record: shapes of one principal of a client, and all of a box. */
const kept = { each: 100, all: 5_000 } as const;

/** Deletes the recorded requests of boxes that exceed the limits, the oldest first. Throws Outage. */
export function trimRequests(pool: Connections, boxes: readonly string[]): Promise<void> {
  return outsideBoxes(pool, async (connection) => {
    await connection.query('SELECT boxgate.trim_requests($1::text[], $2, $3)', [boxes, kept.each, kept.all]);
  });
}

/** A recorded request of a box, for people; times are RFC 3339. */
export interface RecordedRequest extends Omit<RequestKey, 'box'> {
  /** Group of the principal `group:<id>`. */
  readonly group: { readonly id: number; readonly name: string } | undefined;
  readonly requests: number;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
}

/** Reads the recorded requests of a box, the most recent first, at most 5,000; those of deleted groups are left out. */
export async function readRequests(connection: Connection, box: string): Promise<readonly RecordedRequest[]> {
  const { rows } = await connection.query<{
    client: string;
    principal: string;
    app: string;
    method: string;
    shape: string;
    policy: string;
    requests: string;
    first_seen_at: Date;
    last_seen_at: Date;
    group_id: string | null;
    group_name: string | null;
  }>(
    `SELECT q.client, q.principal, q.app, q.method, q.shape, q.policy, q.requests, q.first_seen_at, q.last_seen_at,
            g.id AS group_id, g.name AS group_name
       FROM boxgate.recorded_request q
       LEFT JOIN boxgate.group g ON g.box = q.box AND q.principal = 'group:' || g.id
      WHERE q.box = $1 AND (q.principal NOT LIKE 'group:%' OR g.id IS NOT NULL)
      ORDER BY q.last_seen_at DESC, q.client, q.principal, q.app, q.method, q.shape, q.policy
      LIMIT $2`,
    [box, kept.all],
  );
  return rows.map(({ requests, first_seen_at, last_seen_at, group_id, group_name, ...key }) => ({
    ...key,
    group: group_id === null || group_name === null ? undefined : { id: Number(group_id), name: group_name },
    requests: Number(requests),
    firstSeenAt: first_seen_at,
    lastSeenAt: last_seen_at,
  }));
}

/** A policy of a box, and the time at which it last granted a request. */
interface PolicyUse {
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
