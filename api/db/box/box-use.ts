import { isQuotaName, quotaOf } from '../../../crds/quota.ts';
import type { Quota, QuotaName } from '../../../crds/quota.ts';
import type { Connection } from '../core/transaction.ts';
import { inPortions } from '../../../program/scheduling.ts';
import type { ResourceKey } from '../resource/resource.ts';

/** Quotas of things that are stored in rows, which {@link countChanges} counts. */
export type StoredQuotaName = Exclude<QuotaName, 'sessions' | 'requests'>;

/** The stored things of a box, counted, and its quotas. */
export interface BoxUse {
  readonly use: Readonly<Record<StoredQuotaName, number>>;
  readonly quota: Quota;
}

/** Reads the usage of a box as the transaction sees it; after its own change, that includes everything committed. */
export async function readUse(connection: Connection, box: string): Promise<BoxUse> {
  return demanded(box, await findUse(connection, box));
}

/** Reads the usage of a box; undefined if there is no such box yet. */
export async function findUse(connection: Connection, box: string): Promise<BoxUse | undefined> {
  const { rows } = await connection.query<UseColumns>(
    `SELECT ${useColumns} FROM boxgate.box b LEFT JOIN boxgate.box_use u ON u.box = b.box WHERE b.box = $1`,
    [box],
  );
  return rows[0] && useIn(rows[0]);
}

/**
 * Reads the usage of a box and locks the counts until the transaction ends: nobody else creates or deletes anything in
 * the box meanwhile. Every transaction that creates or deletes users or groups calls it before it locks their rows and
 * counters (and after the row of the box): two that lock these in different orders would wait for each other.
 */
export async function lockUse(connection: Connection, box: string): Promise<BoxUse> {
  const { rows } = await connection.query<UseColumns>(
    `WITH u AS (
       INSERT INTO boxgate.box_use AS u (box) SELECT b.box FROM boxgate.box b WHERE b.box = $1
       ON CONFLICT (box) DO UPDATE SET users = u.users RETURNING u.*)
     SELECT ${useColumns} FROM u JOIN boxgate.box b ON b.box = u.box`,
    [box],
  );
  return demanded(box, rows[0] && useIn(rows[0]));
}

function demanded(box: string, found: BoxUse | undefined): BoxUse {
  if (found === undefined) throw new Error(`no counts of box ${box}`);
  return found;
}

/** SQL for a {@link BoxUse}; a box in which nothing was ever stored has no counts. */
const useColumns = `coalesce(u.clients, 0) AS clients, coalesce(u.policies, 0) AS policies, coalesce(u.users, 0) AS users,
       coalesce(u.groups, 0) AS groups, coalesce(u.bytes, 0) AS bytes, b.quota`;

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

/**
 * Returns SQL that counts changes of rows in box `$1` for its quotas, as a part of the statement that makes them.
 * `changes` selects their kind, the bytes of each row, and 1 for a row that is there now or -1 for one that was.
 */
export function countChanges(changes: string): string {
  const sum = (kind: string): string => `coalesce(sum(c.by) FILTER (WHERE c.kind = '${kind}'), 0)`;
  return `INSERT INTO boxgate.box_use AS u (box, clients, policies, users, groups, bytes)
  SELECT $1::text, ${sum('Client')}, ${sum('AccessPolicy')}, ${sum('User')}, ${sum('Group')}, coalesce(sum(c.by * c.bytes), 0)
    FROM (${changes}) AS c (kind, bytes, by) HAVING count(*) > 0
  ON CONFLICT (box) DO UPDATE SET clients = u.clients + excluded.clients, policies = u.policies + excluded.policies,
    users = u.users + excluded.users, groups = u.groups + excluded.groups, bytes = u.bytes + excluded.bytes`;
}

/** SQL for the bytes of a group in the quotas; `g` is its row. */
export const bytesOfGroup = 'octet_length(concat(g.name, g.description))';

/** Stores the quotas that a Namespace sets; returns whether they changed, which needs a new version (bumpVersion). */
export async function storeQuota(connection: Connection, box: string, quota: Partial<Quota>): Promise<boolean> {
  const { rowCount } = await connection.query(
    `UPDATE boxgate.box SET quota = nullif($2::jsonb, '{}')
      WHERE box = $1 AND quota IS DISTINCT FROM nullif($2::jsonb, '{}')`,
    [box, JSON.stringify(quota)],
  );
  return rowCount === 1;
}

/** The bytes of a resource as its quota counts them: as stored (0 if it is not), and as it is to be stored. */
export interface MeasuredBody {
  readonly before: number;
  readonly after: number;
}

/** A resource to be stored, or a group, whose id is its name here; `body` without its secret. */
export interface BodyToMeasure extends ResourceKey {
  readonly body: object;
}

/** Bounds the memory of one statement. */
const bodiesInStatement = 1_000;

/** Measures resources before they are stored, in their order. Only Postgres can: it writes JSON in its own way. */
export async function measureBodies(
  connection: Connection,
  box: string,
  bodies: readonly BodyToMeasure[],
): Promise<readonly MeasuredBody[]> {
  const measured: MeasuredBody[] = [];
  for (const part of inPortions(bodies, bodiesInStatement))
    measured.push(...(await measurePart(connection, box, part)));
  return measured;
}

async function measurePart(
  connection: Connection,
  box: string,
  bodies: readonly BodyToMeasure[],
): Promise<readonly MeasuredBody[]> {
  const { rows } = await connection.query<{ before: string; after: string }>(
    `SELECT CASE WHEN n.kind = 'Group' THEN ${bytesOfGroup}
                 ELSE coalesce(boxgate.bytes_of(r.body), 0) END AS before,
            CASE WHEN n.kind = 'Group'
                 THEN octet_length(concat(n.body::jsonb ->> 'name', n.body::jsonb ->> 'description'))
                 ELSE boxgate.bytes_of(n.body::jsonb) END AS after
       FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS n (kind, id, body, nth)
       LEFT JOIN boxgate.resource r ON r.box = $1 AND r.kind = n.kind AND r.id = n.id
       LEFT JOIN boxgate.group g ON g.box = $1 AND n.kind = 'Group' AND g.name = n.id
      ORDER BY n.nth`,
    [box, bodies.map(({ kind }) => kind), bodies.map(({ id }) => id), bodies.map(({ body }) => JSON.stringify(body))],
  );
  return rows.map(({ before, after }) => ({ before: Number(before), after: Number(after) }));
}
