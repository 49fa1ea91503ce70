import type { Connection } from '../core/transaction.ts';
import { arrayLiteral, fixedText } from '../hot/statement.ts';
import type { Statement, StatementConnection } from '../hot/statement.ts';

/** An entry of a client's `service_accounts`; each part as the schema has it, so that none needs to be quoted. */
export interface EntryKey {
  readonly box: string;
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
}

/** Stored data about an {@link EntryKey}. */
export interface KnownEntry {
  /** Cluster of the ServiceAccount; `version` is that of the cluster's settings. */
  readonly cluster: string;
  readonly version: number;
  /** UID of the ServiceAccount that has been seen; undefined: none yet. */
  readonly uid: string | undefined;
  /** True if the cluster has reported this ServiceAccount as deleted. */
  readonly isGone: boolean;
}

interface EntryRow {
  readonly nth: string;
  readonly cluster: string;
  readonly version: string;
  readonly uid: string | null;
  readonly gone: boolean;
}

/** Finds the ServiceAccount of an entry: none if there is no such client, or no cluster that it belongs to. */
export const findServiceAccount: Statement<EntryKey, { readonly found: KnownEntry | undefined }> = {
  run: findServiceAccounts,
  boxOf: ({ box }) => box,
};

const findingServiceAccounts = fixedText(
  'SELECT nth, cluster, version, uid, gone FROM boxgate.find_service_accounts($1,$2,$3,$4)',
);

/** Looks up the ServiceAccounts of some clients; see {@link KnownEntry}. Throws Outage. */
async function findServiceAccounts(
  db: StatementConnection,
  keys: readonly EntryKey[],
): Promise<readonly { readonly found: KnownEntry | undefined }[]> {
  const values = [
    arrayLiteral(keys, ({ box }) => `"${box}"`),
    arrayLiteral(keys, ({ client }) => `"${client}"`),
    arrayLiteral(keys, ({ namespace }) => `"${namespace}"`),
    arrayLiteral(keys, ({ name }) => `"${name}"`),
  ];
  const rows = await db.rows<EntryRow>(findingServiceAccounts, values);
  const known = new Map(
    rows.map(({ nth, cluster, version, uid, gone }) => [
      Number(nth),
      { cluster, version: Number(version), uid: uid ?? undefined, isGone: gone },
    ]),
  );
  return keys.map((_, index) => ({ found: known.get(index + 1) }));
}

/** A pinned entry of a client's `service_accounts`. */
export interface Pin {
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** True if its cluster has reported that the ServiceAccount with this uid no longer exists. */
  readonly gone: boolean;
}

/** An entry, and the uid of the ServiceAccount that exists now; null: none. */
export type SeenEntry = Pick<Pin, 'client' | 'namespace' | 'name'> & {
  readonly uid: string | null;
  /** The uid that the entry names; absent if it names none. */
  readonly declared?: string;
};

/**
 * Pins an entry of a client's `service_accounts` to the ServiceAccount with this uid, unless it is pinned already;
 * returns the pinned uid. The transaction must hold the box's row, so that the entry is not removed meanwhile.
 */
export async function pinServiceAccount(
  connection: Connection,
  { box, client, namespace, name }: EntryKey,
  uid: string,
): Promise<string> {
  const { rows } = await connection.query<{ uid: string }>(
    // An update that changes nothing: without it an existing row would not be returned.
    `INSERT INTO boxgate.service_account_pin AS p (box, client, namespace, name, uid) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (box, client, namespace, name) DO UPDATE SET uid = p.uid RETURNING p.uid`,
    [box, client, namespace, name, uid],
  );
  return rows[0]?.uid ?? '';
}

/**
 * Pins an entry to the ServiceAccount with this uid, whatever it was pinned to: its client names the uid. Returns
 * whether that ServiceAccount is known to be deleted and must be refused. The transaction must hold the box's row.
 */
export async function repinServiceAccount(
  connection: Connection,
  { box, client, namespace, name }: EntryKey,
  uid: string,
): Promise<boolean> {
  const { rows } = await connection.query<{ gone: boolean }>(
    // The cluster may have reported it as deleted since the pin was read.
    `INSERT INTO boxgate.service_account_pin AS p (box, client, namespace, name, uid) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (box, client, namespace, name)
     DO UPDATE SET uid = excluded.uid, seen_at = now(), gone_at = CASE WHEN p.uid = excluded.uid THEN p.gone_at END
     RETURNING p.gone_at IS NOT NULL AS gone`,
    [box, client, namespace, name, uid],
  );
  return rows[0]?.gone === true;
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
 * Stores which of the pinned ServiceAccounts exist: if there is none, or one with another uid, the pinned one is gone.
 * An entry that names a missing uid is pinned to it and marked as gone; a call that is older or newer than the stored
 * entry pins nothing. Returns the clients that have lost a pinned one since the last call. The transaction must hold
 * the box's row.
 */
export async function storeSeen(
  connection: Connection,
  box: string,
  cluster: string,
  seen: readonly SeenEntry[],
): Promise<readonly string[]> {
  const { rows } = await connection.query<{ client: string }>(storing, [
    box,
    cluster,
    seen.map(({ client }) => client),
    seen.map(({ namespace }) => namespace),
    seen.map(({ name }) => name),
    seen.map(({ uid }) => uid),
    seen.map(({ declared }) => declared ?? null),
  ]);
  return rows.map(({ client }) => client);
}

// `wanted` is the desired pin: the named uid if its ServiceAccount is missing, otherwise the current pin.
const storing = `
  WITH told AS (
    SELECT DISTINCT s.client, s.namespace, s.name, s.uid AS there, p.uid AS pinned, p.gone_at IS NOT NULL AS was_gone,
           CASE WHEN s.declared IS DISTINCT FROM s.uid AND r.body -> 'service_accounts' @>
                     jsonb_build_array(jsonb_build_object('namespace', s.namespace, 'name', s.name, 'uid', s.declared))
                THEN s.declared ELSE p.uid END AS wanted
      FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
           AS s (client, namespace, name, uid, declared)
      JOIN boxgate.resource r ON r.box = $1 AND r.kind = 'Client' AND r.id = s.client AND r.owner_cluster = $2
      LEFT JOIN boxgate.service_account_pin p
        ON (p.box, p.client, p.namespace, p.name) = ($1, s.client, s.namespace, s.name)
  ), changed AS (
    UPDATE boxgate.service_account_pin p
       SET uid = t.wanted, gone_at = CASE WHEN t.there IS DISTINCT FROM t.wanted THEN now() END
      FROM told t
     WHERE p.box = $1 AND (p.client, p.namespace, p.name) = (t.client, t.namespace, t.name)
       AND (t.wanted <> t.pinned OR (t.there IS DISTINCT FROM t.wanted) <> t.was_gone)
    RETURNING p.client, p.gone_at IS NOT NULL AND NOT t.was_gone AS lost
  ), added AS (
    INSERT INTO boxgate.service_account_pin (box, client, namespace, name, uid, gone_at)
    SELECT $1, t.client, t.namespace, t.name, t.wanted, now()
      FROM told t WHERE t.pinned IS NULL AND t.wanted IS NOT NULL
    ON CONFLICT DO NOTHING
  )
  SELECT DISTINCT client FROM changed WHERE lost`;
