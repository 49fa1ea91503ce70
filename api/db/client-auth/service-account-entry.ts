import { arrayLiteral } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection } from '../core/statement.ts';

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
