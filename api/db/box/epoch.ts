import { nextVersion } from './box.ts';
import type { Connections } from '../core/pool.ts';
import { outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/**
 * Claims the next epoch of a cluster: applies under an older one are refused from the commit on. An epoch is a time,
 * like a version: after a backup is restored, nobody claims an epoch that an older leader may still hold.
 */
export function claimEpoch(pool: Connections, cluster: string): Promise<number> {
  return outsideBoxes(pool, async (connection) => {
    const { rows } = await connection.query<{ epoch: string }>(
      `INSERT INTO boxgate.operator_epoch AS e (cluster, epoch) VALUES ($1, ${nextVersion('0')})
       ON CONFLICT (cluster) DO UPDATE SET epoch = ${nextVersion('e.epoch')} RETURNING epoch`,
      [cluster],
    );
    return Number(rows[0]?.epoch);
  });
}

/** Reads the current epoch and locks its row until the transaction ends: no claim comes between this and the commit. */
export async function lockEpoch(connection: Connection, cluster: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ epoch: string }>(
    'SELECT epoch FROM boxgate.operator_epoch WHERE cluster = $1 FOR SHARE',
    [cluster],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].epoch);
}
