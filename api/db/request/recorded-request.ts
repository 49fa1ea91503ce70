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
