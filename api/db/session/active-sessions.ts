import { momentAt } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';
import { endingJoin, sessionColumns, sessionRecord } from './record.ts';
import type { SessionAsJson, SessionRecord } from './record.ts';
import { readScope } from './search.ts';
import { isBucketWithin } from './bucket.ts';

/** Clients whose active sessions are read, and how many at most. */
export interface ActiveSearch {
  readonly box: string;
  /** Undefined: all clients of the box. */
  readonly clients: readonly string[] | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limit: number;
}

/** Reads active sessions of some clients, or of all, in no particular order: one statement, however many clients. */
export async function readActiveSessions(
  connection: Connection,
  { box, clients, now, limit }: ActiveSearch,
): Promise<readonly SessionRecord[]> {
  const { buckets, from } = await readScope(connection, box);
  const ahead = buckets.filter((bucket) => isBucketWithin(bucket, { from: now }));
  const living = `s.box = $1 AND s.bucket = ANY ($2::int[]) AND s.ended_at IS NULL AND s.expires_at > ${momentAt('$3')}
                  AND s.version >= $4 LIMIT $5`;
  const found =
    clients === undefined
      ? `SELECT s.* FROM boxgate.session s WHERE ${living}`
      : `SELECT s.* FROM unnest($6::text[]) AS c (client)
          CROSS JOIN LATERAL (SELECT s.* FROM boxgate.session s WHERE s.client = c.client AND ${living}) AS s LIMIT $5`;
  return activeAmong(connection, found, [
    box,
    ahead,
    now,
    from ?? 0,
    limit,
    ...(clients === undefined ? [] : [clients]),
  ]);
}

/** Reads which of some sessions are active now; `now` in milliseconds since 1970. */
export async function stillActiveSessions(
  connection: Connection,
  box: string,
  sessions: readonly Pick<SessionRecord, 'id' | 'bucket'>[],
  now: number,
): Promise<readonly SessionRecord[]> {
  const found = `SELECT s.* FROM unnest($2::uuid[], $4::int[]) AS k (id, bucket)
                   JOIN boxgate.session s ON s.box = $1 AND s.bucket = k.bucket AND s.id = k.id`;
  return activeAmong(connection, found, [box, sessions.map(({ id }) => id), now, sessions.map(({ bucket }) => bucket)]);
}

/** Returns the active ones of the sessions that a statement finds: `$1` is the box, `$3` the time. */
async function activeAmong(
  connection: Connection,
  found: string,
  values: readonly unknown[],
): Promise<readonly SessionRecord[]> {
  const { rows } = await connection.query<SessionAsJson>(
    `SELECT to_json(shown) AS session FROM (${found}) AS s ${endingJoin('$1')}
      CROSS JOIN LATERAL (SELECT ${sessionColumns('$3')}) AS shown WHERE shown.status = 'active'`,
    [...values],
  );
  return rows.map(({ session }) => sessionRecord(session));
}
