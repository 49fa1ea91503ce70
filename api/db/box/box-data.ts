import { findUse, lockUse } from './box-use.ts';
import { deleteResources } from '../resource/write.ts';
import { deleteUsers } from '../user-write.ts';
import { filledBuckets } from '../session/bucket.ts';
import type { ResourceKey } from '../resource/resource.ts';
import type { Connection } from '../core/transaction.ts';

/**
 * Ends the data of a box under its new config version (bumpVersion): all sessions for good, refresh families, signing
 * keys and users; of clients, policies, groups and settings `all`, or those that no object declares. Records of
 * sessions and of the audit trail are hidden from then on and deleted in the background.
 */
export async function endBoxData(
  connection: Connection,
  box: string,
  version: number,
  which: 'all' | 'unowned',
): Promise<void> {
  await lockUse(connection, box);
  const { rows } = await connection.query<ResourceKey>(
    `SELECT kind, id FROM boxgate.resource WHERE box = $1 AND (owner_cluster IS NULL OR $2)`,
    [box, which === 'all'],
  );
  if (rows.length > 0) await deleteResources(connection, box, version, rows);
  await connection.query('SELECT boxgate.end_box_data($1)', [which === 'all']);
}

/** The box has more users than one transaction may delete: they are to be deleted in portions before. */
export class ManyUsers extends Error {
  override readonly name = 'ManyUsers';
  readonly users: number;

  constructor(users: number) {
    super(`the box has ${String(users)} users, more than one transaction deletes`);
    this.users = users;
  }
}

/** Users that one transaction deletes: a quarter of a second. */
const usersAtOnce = 10_000;

/** Throws ManyUsers if the box has more users than one transaction deletes. */
export async function demandFewUsers(connection: Connection, box: string): Promise<void> {
  const { users } = (await findUse(connection, box))?.use ?? { users: 0 };
  if (users > usersAtOnce) throw new ManyUsers(users);
}

/** Deletes a portion of the users of a box whose data is about to end; returns how many. */
export async function deleteSomeUsers(connection: Connection, box: string): Promise<number> {
  await lockUse(connection, box);
  const first = 'id IN (SELECT id FROM boxgate.user WHERE box = $1 ORDER BY id LIMIT $2)';
  return deleteUsers(connection, box, first, usersAtOnce);
}

/** SQL condition: a session `s` of the box `$1` was not discarded with the data of its box. */
export const notDiscarded = `s.version >= (SELECT b.records_from FROM boxgate.box b WHERE b.box = $1)`;

/**
 * SQL for the version before which the sessions of a box were discarded, while records of them still exist. Usually
 * there is no row: a search that ignores versions can use an index.
 */
export const selectRecordsFrom = 'SELECT records_from AS version FROM boxgate.box WHERE box = $1 AND discarding';

const recordsAtOnce = 10_000;

/**
 * Deletes records of discarded sessions and of the audit trail, if a box has any; false when there may be more.
 * Outside a request.
 */
export async function deleteRecords(connection: Connection, box: string): Promise<boolean> {
  const { rowCount } = await connection.query(selectRecordsFrom, [box]);
  if (rowCount === 0) return true;
  for (const bucket of await filledBuckets(connection)) {
    const { rows } = await connection.query<{ deleted: string }>(
      'SELECT boxgate.delete_records($1, $2, $3) AS deleted',
      [box, bucket, recordsAtOnce],
    );
    if (Number(rows[0]?.deleted) === recordsAtOnce) return false;
  }
  const { rows } = await connection.query<{ deleted: string }>(
    'SELECT boxgate.delete_audit_events($1, $2) AS deleted',
    [box, recordsAtOnce],
  );
  if (Number(rows[0]?.deleted) === recordsAtOnce) return false;
  await connection.query('UPDATE boxgate.box SET discarding = false WHERE box = $1', [box]);
  return true;
}
