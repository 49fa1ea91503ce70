import { lockResources } from './resource-write.ts';
import type { Connection } from './transaction.ts';

/** What upkeep finds in a box. */
export interface BoxUpkeep {
  /** Body of the declared Box; null when there is none. */
  readonly settings: unknown;
  readonly hasKeys: boolean;
  /** Whether {@link pruneVersions} would delete anything. */
  readonly hasOldVersions: boolean;
  /** Records of discarded sessions may be left. */
  readonly isDiscarding: boolean;
}

/** Reads what a box needs of upkeep, in one statement, without its clients and policies. */
export async function readBoxUpkeep(connection: Connection, box: string): Promise<BoxUpkeep> {
  const { rows } = await connection.query<{
    settings: unknown;
    has_keys: boolean;
    has_old_versions: boolean;
    is_discarding: boolean;
  }>(
    `SELECT (SELECT body FROM boxgate.resource WHERE box = $1 AND kind = 'Box' LIMIT 1) AS settings,
            EXISTS (SELECT FROM boxgate.signing_key WHERE box = $1) AS has_keys,
            EXISTS (SELECT FROM boxgate.box_version WHERE box = $1 AND version < ${oldestKept})
              OR EXISTS (SELECT FROM boxgate.tombstone WHERE box = $1 AND version <= ${oldestKept}) AS has_old_versions,
            EXISTS (SELECT FROM boxgate.box WHERE box = $1 AND discarding) AS is_discarding`,
    [box],
  );
  const [row] = rows;
  return {
    settings: row?.settings,
    hasKeys: row?.has_keys === true,
    hasOldVersions: row?.has_old_versions === true,
    isDiscarding: row?.is_discarding === true,
  };
}

/**
 * Of the versions of box `$1`, the one that counted a day ago: who holds an older one has not asked for a day, and loads
 * the whole box. Null when there is none.
 */
const oldestKept = `(SELECT max(v.version) FROM boxgate.box_version v
  WHERE v.box = $1 AND v.version <= (extract(epoch FROM now() - interval '1 day') * 1000000)::bigint)`;

/**
 * Deletes the versions of a box that no replica needs to be told apart from, and with them the tombstones that only their
 * holders would read. Under the box's lock: nobody reads between the two.
 */
export async function pruneVersions(connection: Connection, box: string): Promise<void> {
  await lockResources(connection, box);
  await connection.query(`DELETE FROM boxgate.tombstone WHERE box = $1 AND version <= ${oldestKept}`, [box]);
  await connection.query(`DELETE FROM boxgate.box_version WHERE box = $1 AND version < ${oldestKept}`, [box]);
}
