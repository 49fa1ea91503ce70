import type { Kind } from '../../crds/kind.ts';
import type { RowName } from '../client/desired-state.ts';
import { lockUse, measureBodies } from '../db/box/box-use.ts';
import type { BoxUse, StoredQuotaName, MeasuredBody } from '../db/box/box-use.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { ApplyPlan, PlannedWrite } from './plan.ts';
import { quotaFault } from '../records/write/change.ts';

/**
 * Removes from a plan the writes that would exceed a quota of the box: the later ones, because a call names the oldest
 * objects first. Each of them is answered `invalid` with the name of the quota, and the rest is applied.
 */
export async function fitQuota(connection: Connection, box: string, plan: ApplyPlan): Promise<ApplyPlan> {
  if (plan.writes.length === 0) return plan;
  const found = await lockUse(connection, box);
  const sizes = mayExceedBytes(plan.writes, found) ? await measure(connection, box, plan) : undefined;
  return keepWithin(plan, found, sizes);
}

/** Checks whether the bytes can matter: measuring them sends each body to Postgres once more. */
function mayExceedBytes(writes: readonly PlannedWrite[], { use, quota }: BoxUse): boolean {
  const ours = writes.reduce((sum, { resource }) => sum + mostBytes(JSON.stringify(resource)), 0);
  return use.bytes + ours > quota.bytes;
}

/** Bytes of a number with an exponent, for each of its characters: Postgres spells out 5e-324 in 326 digits. */
const bytesOfExponent = 64;

/** Returns the most bytes that Postgres may write for a JSON text: it adds a space after each comma and colon. */
export function mostBytes(json: string): number {
  return Buffer.byteLength(json) * (/\d[eE][+-]?\d/.test(json) ? bytesOfExponent : 2);
}

/** Bytes of bodies as Postgres counts them, in the order of the writes, and of all rows that the plan deletes. */
interface Sizes {
  readonly written: readonly MeasuredBody[];
  readonly deleted: number;
}

async function measure(connection: Connection, box: string, { writes, deletes }: ApplyPlan): Promise<Sizes> {
  const bodies = writes.map(({ line: { kind, id }, resource }) => ({ kind, id, body: bodyOf(resource) }));
  const written = await measureBodies(connection, box, bodies);
  const gone = await measureBodies(
    connection,
    box,
    deletes.map(({ kind, id }) => ({ kind, id, body: {} })),
  );
  return { written, deleted: gone.reduce((sum, { before }) => sum + before, 0) };
}

function bodyOf(resource: PlannedWrite['resource']): object {
  const { secret: _secret, ...body } = { secret: undefined, ...resource };
  return body;
}

/** Pure: leaves out the writes for which there is no room. */
function keepWithin(plan: ApplyPlan, found: BoxUse, sizes: Sizes | undefined): ApplyPlan {
  const use = { ...found.use, bytes: found.use.bytes - (sizes?.deleted ?? 0) };
  for (const { kind } of plan.deletes) count(use, kind, -1);
  const refused = new Map<PlannedWrite['result'], StoredQuotaName>();
  plan.writes.forEach(({ line, result }, index) => {
    const grown = sizes === undefined ? 0 : growthOf(sizes.written[index]);
    const counted = result.result === 'created' ? countedAs[line.kind] : undefined;
    const name = lacking(use, found, counted, grown);
    if (name !== undefined) {
      refused.set(result, name);
      return;
    }
    count(use, counted === undefined ? undefined : line.kind, 1);
    use.bytes += grown;
  });
  return refused.size === 0 ? plan : without(plan, refused, found);
}

const countedAs: Readonly<Record<Kind, CountedName | undefined>> = {
  Client: 'clients',
  AccessPolicy: 'policies',
  Group: 'groups',
  Box: undefined,
};

type CountedName = 'clients' | 'policies' | 'groups';

type Counts = Record<StoredQuotaName, number>;

function count(use: Counts, kind: Kind | undefined, by: number): void {
  const name = kind === undefined ? undefined : countedAs[kind];
  if (name !== undefined) use[name] += by;
}

function growthOf({ before, after }: MeasuredBody = { before: 0, after: 0 }): number {
  return after - before;
}

/** Returns the quota that one more row, or so many bytes more, would exceed. */
function lacking(
  use: Counts,
  { quota }: BoxUse,
  counted: CountedName | undefined,
  grown: number,
): StoredQuotaName | undefined {
  if (counted !== undefined && use[counted] >= quota[counted]) return counted;
  return grown > 0 && use.bytes + grown > quota.bytes ? 'bytes' : undefined;
}

function without(
  plan: ApplyPlan,
  refused: ReadonlyMap<PlannedWrite['result'], StoredQuotaName>,
  found: BoxUse,
): ApplyPlan {
  return {
    ...plan,
    writes: plan.writes.filter(({ result }) => !refused.has(result)),
    results: plan.results.map((result) => {
      const name = refused.get(result);
      if (name === undefined) return result;
      const { kind, id }: RowName = result;
      return { kind, id, result: 'invalid', faults: [quotaFault(name, found)], quota: name };
    }),
  };
}
