import type { Link } from '../../../crds/links.ts';
import { missingLinks as readMissing } from '../../db/resource/linked-rows.ts';
import type { Connections } from '../../db/core/pool.ts';
import { inBox } from '../../db/core/transaction.ts';

/** Returns those of the links whose Client, User or Group is not in the box. Throws Outage. */
export function missingLinks(pool: Connections, box: string, links: readonly Link[]): Promise<readonly Link[]> {
  return inBox(pool, box, 'snapshot', (connection) => readMissing(connection, box, links));
}
