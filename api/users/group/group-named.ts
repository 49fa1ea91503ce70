import { bumpVersion } from '../../db/box/box.ts';
import { groupOfName, insertGroup } from '../../db/user/group.ts';
import { inBox } from '../../db/core/transaction.ts';
import { changing } from '../../resources/write/change.ts';
import type { ChangingServices } from '../../resources/write/change.ts';
import { withinQuota } from '../../resources/write/within-quota.ts';

/**
 * Returns the id of the group that the settings of a box name, and creates the group if it is missing. Throws Problem
 * `invalid` beyond a quota of the box, and Outage.
 */
export async function groupNamed(services: ChangingServices, box: string, name: string): Promise<number> {
  const found = await inBox(services.pool, box, 'snapshot', (connection) => groupOfName(connection, box, name));
  if (found !== undefined) return found;
  return changing(services, box, async (connection, note) => {
    // Another call may have created it meanwhile; from here on none does.
    const present = await groupOfName(connection, box, name);
    if (present !== undefined) return present;
    const version = await bumpVersion(connection, box);
    const insert = () => insertGroup(connection, box, version, { name, description: null });
    const made = await withinQuota(connection, box, insert);
    if (made === undefined) throw new Error(`the group ${name} of box ${box} is there, and is not`);
    note({ event: 'group.created', target: `Group/${String(made.id)}` });
    return made.id;
  });
}
