import { lockVersion } from './box.ts';
import { Outage } from '../core/outage.ts';
import type { Connections } from '../core/pool.ts';
import { inBox } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/**
 * Makes the running transaction's commit wait until a synchronous standby has it on disk.
 * Throws Outage if there is no such standby: a failover could lose the change. A standby that goes away later leaves
 * the commit unconfirmed, which is an Outage too (inBox), although the change may be stored.
 */
export async function demandStandby(connection: Connection): Promise<void> {
  // A role that may not read the statistics sees that there is a standby, but not its kind.
  const { rows } = await connection.query<{ configured: boolean; connected: boolean }>(
    `SELECT set_config('synchronous_commit', 'on', true),
            current_setting('synchronous_standby_names') <> '' AS configured,
            EXISTS (SELECT FROM pg_stat_replication
                     WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')) AS connected`,
  );
  const [standby] = rows;
  if (standby?.configured !== true) throw new Outage('No synchronous standby is configured');
  if (!standby.connected) throw new Outage('No synchronous standby is connected');
}

/**
 * Makes the commit wait in the same way even if the transaction changes nothing: an earlier call, which was not
 * confirmed, may have made the change already. A commit without writes does not wait; a row lock is a write.
 */
export async function demandStandbyForBox(connection: Connection, box: string): Promise<void> {
  await demandStandby(connection);
  await lockVersion(connection, box);
}

/**
 * Resolves when a synchronous standby has everything committed in a box until now: unconfirmed changes of an earlier
 * call may then be reported as done. Throws Outage.
 */
export function confirmOnStandby(pool: Connections, box: string): Promise<void> {
  return inBox(pool, box, 'write', (connection) => demandStandbyForBox(connection, box));
}
