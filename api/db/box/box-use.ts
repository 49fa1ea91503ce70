import { isQuotaName, quotaOf } from '../../../crds/quota.ts';
import type { Quota, QuotaName } from '../../../crds/quota.ts';
import type { Connection } from '../core/transaction.ts';

/** Quotas of things that are stored in rows, which triggers count. */
export type StoredQuotaName = Exclude<QuotaName, 'sessions' | 'requests'>;

/** The stored things of a box, counted, and its quotas. */
export interface BoxUse {
  readonly use: Readonly<Record<StoredQuotaName, number>>;
  readonly quota: Quota;
}

/** Reads the usage of a box as the transaction sees it; after its own change, that includes everything committed. */
export async function readUse(connection: Connection, box: string): Promise<BoxUse> {
  return demanded(box, await queryUse(connection, box, ''));
}

/** Reads the usage of a box; undefined if there is no such box yet. */
export function findUse(connection: Connection, box: string): Promise<BoxUse | undefined> {
  return queryUse(connection, box, '');
}

/**
 * Reads the usage of a box and locks the counts until the transaction ends: nobody else creates or deletes anything in
 * the box meanwhile.
 */
export async function lockUse(connection: Connection, box: string): Promise<BoxUse> {
  return demanded(box, await queryUse(connection, box, 'FOR NO KEY UPDATE OF u'));
}

function demanded(box: string, found: BoxUse | undefined): BoxUse {
  if (found === undefined) throw new Error(`no counts of box ${box}`);
  return found;
}

async function queryUse(connection: Connection, box: string, lock: string): Promise<BoxUse | undefined> {
  const { rows } = await connection.query<UseColumns>(
    `SELECT u.clients, u.policies, u.users, u.groups, u.bytes, b.quota
       FROM boxgate.box_use u JOIN boxgate.box b ON b.box = u.box WHERE u.box = $1 ${lock}`,
    [box],
  );
  const [row] = rows;
  return row && useIn(row);
}

/** Columns of a {@link BoxUse}. */
export type UseColumns = Readonly<Record<StoredQuotaName, string>> & { readonly quota: unknown };

/** Converts the columns of a box's usage. */
function useIn({ clients, policies, users, groups, bytes, quota }: UseColumns): BoxUse {
  const use = {
    clients: Number(clients),
    policies: Number(policies),
    users: Number(users),
    groups: Number(groups),
    bytes: Number(bytes),
  };
  return { use, quota: quotaOf(storedQuota(quota)) };
}

/** Returns the quotas in a column of our own. A name that this release does not know has no effect. */
export function storedQuota(value: unknown): Partial<Quota> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter(([name, limit]) => isQuotaName(name) && Number.isInteger(limit)),
  );
}

/** Stores the quotas that a Namespace sets; returns whether they changed, which needs a new version (bumpVersion). */
export async function storeQuota(connection: Connection, box: string, quota: Partial<Quota>): Promise<boolean> {
  const { rowCount } = await connection.query(
    `UPDATE boxgate.box SET quota = nullif($2::jsonb, '{}')
      WHERE box = $1 AND quota IS DISTINCT FROM nullif($2::jsonb, '{}')`,
    [box, JSON.stringify(quota)],
  );
  return rowCount === 1;
}
