import { lockVersion } from './box.ts';
import { Outage } from './outage.ts';
import type { Connections } from './pool.ts';
import { inBox } from './transaction.ts';
import type { Connection } from './transaction.ts';

/**
 * Makes the running transaction's commit wait until a synchronous standby has it on disk; to be called before anything
 * is changed. Throws Outage when there is no such standby: a failover could lose the change. One that goes away only
 * then leaves the commit unconfirmed, which is an Outage too (inBox), although the change may be there.
 */
export async function demandStandby(connection: Connection): Promise<void> {
  // A role that may not read the statistics sees that there is a standby, and not of which kind.
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
 * Resolves when a synchronous standby has all that is committed in a box until now: what an earlier call changed without
 * being confirmed may be told as done after that. Throws Outage.
 */
export function confirmOnStandby(pool: Connections, box: string): Promise<void> {
  return inBox(pool, box, 'write', async (connection) => {
    await demandStandby(connection);
    // A commit that has written nothing waits for nobody; a row lock is written.
    await lockVersion(connection, box);
  });
}
