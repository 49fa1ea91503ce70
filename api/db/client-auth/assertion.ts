import { arrayLiteral, bytes } from '../core/array-literal.ts';
import type { AssertionUse, EntryKey, KnownEntry } from '../batched-statements.ts';
import type { Queryable } from '../session/issue.ts';
import { translatingErrors } from '../core/outage.ts';

/** Uses some assertions; returns for each whether this request is the first to use it. Throws Outage. */
export async function useAssertions(db: Queryable, uses: readonly AssertionUse[]): Promise<readonly boolean[]> {
  const text = 'SELECT nth, fresh FROM boxgate.use_assertions($1,$2,$3,$4,$5)';
  const values = [
    arrayLiteral(uses, ({ box }) => `"${box}"`),
    arrayLiteral(uses, ({ client }) => `"${client}"`),
    arrayLiteral(uses, ({ jti }) => bytes(jti)),
    arrayLiteral(uses, ({ request }) => request),
    arrayLiteral(uses, ({ expiresAt }) => String(expiresAt)),
  ];
  const { rows } = await translatingErrors(() => db.query<{ nth: string; fresh: boolean }>({ text, values }));
  const fresh = new Set(rows.filter((row) => row.fresh).map((row) => Number(row.nth)));
  return uses.map((_, index) => fresh.has(index + 1));
}

interface EntryRow {
  readonly nth: string;
  readonly cluster: string;
  readonly version: string;
  readonly uid: string | null;
  readonly gone: boolean;
}

/** Looks up the ServiceAccounts of some clients; see {@link KnownEntry}. Throws Outage. */
export async function findServiceAccounts(
  db: Queryable,
  keys: readonly EntryKey[],
): Promise<readonly { readonly found: KnownEntry | undefined }[]> {
  const text = 'SELECT nth, cluster, version, uid, gone FROM boxgate.find_service_accounts($1,$2,$3,$4)';
  const values = [
    arrayLiteral(keys, ({ box }) => `"${box}"`),
    arrayLiteral(keys, ({ client }) => `"${client}"`),
    arrayLiteral(keys, ({ namespace }) => `"${namespace}"`),
    arrayLiteral(keys, ({ name }) => `"${name}"`),
  ];
  const { rows } = await translatingErrors(() => db.query<EntryRow>({ text, values }));
  const known = new Map(
    rows.map(({ nth, cluster, version, uid, gone }) => [
      Number(nth),
      { cluster, version: Number(version), uid: uid ?? undefined, isGone: gone },
    ]),
  );
  return keys.map((_, index) => ({ found: known.get(index + 1) }));
}
