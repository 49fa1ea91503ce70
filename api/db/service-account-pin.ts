import type { EntryKey } from './hot-statements.ts';
import type { Connection } from './transaction.ts';

/** A pinned entry of a client's `service_accounts`. */
export interface Pin {
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Its cluster has said that the ServiceAccount of this uid is not there any more. */
  readonly gone: boolean;
}

/** An entry, and the uid of the ServiceAccount that is there now; null: none. */
export type SeenEntry = Pick<Pin, 'client' | 'namespace' | 'name'> & { readonly uid: string | null };

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

/**
 * Pins an entry to the ServiceAccount of this uid, whatever it was pinned to: its client names the uid. The transaction must
 * hold the box's row.
 */
export async function repinServiceAccount(
  connection: Connection,
  { box, client, namespace, name }: EntryKey,
  uid: string,
): Promise<void> {
  await connection.query(
    `INSERT INTO boxgate.service_account_pin (box, client, namespace, name, uid) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (box, client, namespace, name) DO UPDATE SET uid = excluded.uid, seen_at = now(), gone_at = NULL`,
    [box, client, namespace, name, uid],
  );
}

/** Returns the pins of those clients of a box that the cluster declares. */
export async function readPins(connection: Connection, box: string, cluster: string): Promise<readonly Pin[]> {
  const { rows } = await connection.query<Pin>(
    `SELECT p.client, p.namespace, p.name, p.uid, p.gone_at IS NOT NULL AS gone
       FROM boxgate.service_account_pin p JOIN boxgate.resource r ON r.box = p.box AND r.kind = 'Client' AND r.id = p.client
      WHERE p.box = $1 AND r.owner_cluster = $2 ORDER BY p.client, p.namespace, p.name`,
    [box, cluster],
  );
  return rows;
}

/**
 * Stores which of the pinned ServiceAccounts are there: one of another uid, and none at all, say that the pinned one is gone.
 * Returns the clients that have lost one since this was last stored. The transaction must hold the box's row.
 */
export async function storeSeen(
  connection: Connection,
  box: string,
  cluster: string,
  seen: readonly SeenEntry[],
): Promise<readonly string[]> {
  const { rows } = await connection.query<{ client: string; gone: boolean }>(
    `UPDATE boxgate.service_account_pin p SET gone_at = CASE WHEN s.uid IS DISTINCT FROM p.uid THEN now() END
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS s (client, namespace, name, uid), boxgate.resource r
      WHERE p.box = $1 AND (p.client, p.namespace, p.name) = (s.client, s.namespace, s.name)
        AND r.box = p.box AND r.kind = 'Client' AND r.id = p.client AND r.owner_cluster = $2
        AND (s.uid IS DISTINCT FROM p.uid) <> (p.gone_at IS NOT NULL)
     RETURNING p.client, p.gone_at IS NOT NULL AS gone`,
    [
      box,
      cluster,
      seen.map(({ client }) => client),
      seen.map(({ namespace }) => namespace),
      seen.map(({ name }) => name),
      seen.map(({ uid }) => uid),
    ],
  );
  return [...new Set(rows.flatMap(({ client, gone }) => (gone ? [client] : [])))];
}
