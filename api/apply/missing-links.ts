import type { Link } from '../../crds/links.ts';
import { builtInName } from '../../crds/reserved-ids.ts';
import { missingLinks as readMissing } from '../db/resource/resource.ts';
import type { Connections } from '../db/core/pool.ts';
import { inBox } from '../db/core/transaction.ts';

/** Returns those of the links whose Client, User or Group is not in the box. Throws Outage. */
export function missingLinks(pool: Connections, box: string, links: readonly Link[]): Promise<readonly Link[]> {
  // A built-in client has no row.
  const stored = links.filter(({ resourceType, id }) => resourceType !== 'Client' || builtInName(id) === undefined);
  return inBox(pool, box, 'snapshot', (connection) => readMissing(connection, box, stored));
}
