import type { EntryKey } from './hot-statements.ts';
import type { Connection } from './transaction.ts';

/**
 * Pins an entry of a client's `service_accounts` to the ServiceAccount of this uid, unless it is pinned already; gives the
 * uid that it is pinned to. The transaction must hold the box's row, so that the entry does not leave meanwhile.
 */
export async function pinServiceAccount(
  connection: Connection,
  { box, client, namespace, name }: EntryKey,
  uid: string,
): Promise<string> {
  const { rows } = await connection.query<{ uid: string }>(
    // An update that changes nothing: without it the row of somebody who came first would not be returned.
    `INSERT INTO boxgate.service_account_pin AS p (box, client, namespace, name, uid) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (box, client, namespace, name) DO UPDATE SET uid = p.uid RETURNING p.uid`,
    [box, client, namespace, name, uid],
  );
  return rows[0]?.uid ?? '';
}
