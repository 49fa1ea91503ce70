import { builtInIds } from '../resource/resource.ts';
import { lockResources } from '../resource/write.ts';
import type { Connections } from '../core/pool.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';

/**
 * Takes a piece of work for so many milliseconds; false if another replica has it. A lease that ends later than one
 * taken now is of a clock that was ahead, and holds nobody off. Throws Outage.
 */
export function takeLease(pool: Connections, name: string, milliseconds: number): Promise<boolean> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rowCount } = await connection.query(
      `INSERT INTO boxgate.lease AS l (name, until) VALUES ($1, now() + $2 * interval '1 millisecond')
       ON CONFLICT (name) DO UPDATE SET until = excluded.until
        WHERE l.until <= now() OR l.until > excluded.until`,
      [name, milliseconds],
    );
    return rowCount === 1;
  });
}

const day = 86_400_000;

/**
 * Tables whose expired rows are deleted for all boxes together, since most boxes have none, and the milliseconds for
 * which a row stays after that.
 */
const expiring = {
  used_assertion: 0,
  failed_attempt: 0,
  recorded_request: 90 * day,
  // Before the sign-ins, which they are deleted with.
  consent_request: 0,
  sign_in: 0,
  authorization_code: 0,
  refresh_family: day,
} as const;

/** A table whose rows expire. */
export type ExpiringTable = keyof typeof expiring;

/** Every table whose rows expire, in the order of their deletion. */
export const EXPIRING_TABLES = Object.keys(expiring).filter((name): name is ExpiringTable => name in expiring);

/** Deletes at most `limit` expired rows of a table in all boxes; returns their number. Throws Outage. */
export function deleteExpired(pool: Connections, table: ExpiringTable, now: Date, limit: number): Promise<number> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ deleted: string }>(
      'SELECT boxgate.delete_expired($1, $2, $3) AS deleted',
      [table, new Date(now.getTime() - expiring[table]), limit],
    );
    return Number(rows[0]?.deleted);
  });
}

/** State of a box as upkeep needs it. */
export interface BoxUpkeep {
  /** Body of the declared Box; null when there is none. */
  readonly settings: unknown;
  readonly hasKeys: boolean;
  /** True if {@link pruneVersions} would delete anything. */
  readonly hasOldVersions: boolean;
  /** True if records of discarded sessions may be left. */
  readonly isDiscarding: boolean;
  /** True if a move of the box was given up, and it still counts as leaving. */
  readonly wasLeaving: boolean;
}

/** Reads the upkeep state of a box in one statement, without its clients and policies. */
export async function readBoxUpkeep(connection: Connection, box: string): Promise<BoxUpkeep> {
  const { rows } = await connection.query<{
    settings: unknown;
    has_keys: boolean;
    has_old_versions: boolean;
    is_discarding: boolean;
    was_leaving: boolean;
  }>(
    `SELECT (SELECT body FROM boxgate.resource WHERE box = $1 AND kind = 'Box' LIMIT 1) AS settings,
            EXISTS (SELECT FROM boxgate.signing_key WHERE box = $1) AS has_keys,
            EXISTS (SELECT FROM boxgate.box_version WHERE box = $1 AND version < ${oldestKept})
              OR EXISTS (SELECT FROM boxgate.tombstone WHERE box = $1 AND version <= ${oldestKept} AND ${isPruned}) AS has_old_versions,
            EXISTS (SELECT FROM boxgate.box WHERE box = $1 AND discarding) AS is_discarding,
            EXISTS (SELECT FROM boxgate.box WHERE box = $1 AND leaving_until < clock_timestamp()) AS was_leaving`,
    [box],
  );
  const [row] = rows;
  return {
    settings: row?.settings,
    hasKeys: row?.has_keys === true,
    hasOldVersions: row?.has_old_versions === true,
    isDiscarding: row?.is_discarding === true,
    wasLeaving: row?.was_leaving === true,
  };
}

/**
 * SQL for the version of box `$1` that was current a day ago; null if there is none. A replica with an older one has
 * not asked for a day, and loads the whole box.
 */
const oldestKept = `(SELECT max(v.version) FROM boxgate.box_version v
  WHERE v.box = $1 AND v.version <= (extract(epoch FROM now() - interval '1 day') * 1000000)::bigint)`;

/** SQL: a tombstone of a client with the ID of a built-in one stays, so that its sessions stay revoked. */
const isPruned = `(kind <> 'Client' OR id NOT IN ${builtInIds})`;

/**
 * Deletes the versions of a box before the one that was current a day ago, and the tombstones that only replicas with
 * those versions would read. Takes the box's lock: nobody reads between the two statements.
 */
export async function pruneVersions(connection: Connection, box: string): Promise<void> {
  await lockResources(connection, box);
  await connection.query(`DELETE FROM boxgate.tombstone WHERE box = $1 AND version <= ${oldestKept} AND ${isPruned}`, [
    box,
  ]);
  await connection.query(`DELETE FROM boxgate.box_version WHERE box = $1 AND version < ${oldestKept}`, [box]);
}

/** Position of a walk through the revocations of a box. */
export interface RevocationPlace {
  readonly subject: string;
  readonly version: string;
}

/** Position before the first one. */
export const firstRevocation: RevocationPlace = { subject: '', version: '0' };

/**
 * Deletes, among the next `limit` revocations of a box, those that no longer affect a stored session; returns the
 * position of the last one examined, undefined if none is left.
 */
export async function pruneRevocations(
  connection: Connection,
  box: string,
  { subject, version }: RevocationPlace,
  limit: number,
): Promise<RevocationPlace | undefined> {
  const { rows } = await connection.query<RevocationPlace>(
    'SELECT subject, version::text AS version FROM boxgate.prune_revocations($1, $2, $3, $4)',
    [box, subject, version, limit],
  );
  return rows[0];
}
