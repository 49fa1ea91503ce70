import { clusterOfBox } from '../db/box/box.ts';
import type { Connections } from '../db/core/pool.ts';
import { inBoxWithin } from '../db/core/transaction.ts';
import { plannedRows } from '../db/resource/planned-rows.ts';
import type { PlannedRow } from '../db/resource/planned-rows.ts';
import { planKey } from './planned-lines.ts';
import type { StoredRows, WantedObject } from './planned-lines.ts';

/**
 * Verifies a client secret: true if it is one of the stored forms, undefined if it cannot be compared now. Throws
 * Problem, Outage.
 */
export type IsStoredSecret = (
  client: string,
  stored: readonly string[],
  secret: string,
) => Promise<boolean | undefined>;

/** Milliseconds: ten thousand rows are read in portions. */
const limit = 10_000;

/**
 * Reads the rows that a desired state is compared with: those that it names, and all that the installation declares in
 * the box. Then verifies the secrets that it gives, outside the transaction. Throws Outage, and what `isStored` throws.
 */
export async function readStoredRows(
  pool: Connections,
  box: string,
  objects: readonly WantedObject[],
  isStored: IsStoredSecret,
): Promise<StoredRows> {
  const read = await inBoxWithin(pool, box, { mode: 'snapshot', limit }, async (connection) => {
    const cluster = (await clusterOfBox(connection, box)) ?? 'none';
    const rows = await plannedRows(connection, box, cluster, objects);
    return { cluster, rows: new Map(rows.map((row) => [planKey(row), row])) };
  });
  return { box, ...read, ...(await comparedSecrets(objects, read.rows, isStored)) };
}

/** Compares the given secrets of existing clients with the stored ones. */
async function comparedSecrets(
  objects: readonly WantedObject[],
  rows: ReadonlyMap<string, PlannedRow>,
  isStored: IsStoredSecret,
): Promise<Pick<StoredRows, 'newSecrets' | 'notCompared'>> {
  const found = new Set<string>();
  const notCompared: string[] = [];
  for (const object of objects) {
    const { id, resource } = object;
    const row = rows.get(planKey(object));
    if (row === undefined || resource?.resourceType !== 'Client' || typeof resource.secret !== 'string') continue;
    const isSame = await isStored(id, row.secrets, resource.secret);
    if (isSame === undefined) notCompared.push(id);
    else if (!isSame) found.add(planKey(object));
  }
  return { newSecrets: found, notCompared };
}
