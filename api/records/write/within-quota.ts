import type { Fault } from '../../../crds/fault.ts';
import { quotaSentence } from '../../../crds/quota.ts';
import { readUse } from '../../db/box/box-use.ts';
import type { BoxUse, StoredQuotaName } from '../../db/box/box-use.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';

/** Makes the error of a change that exceeds a quota. */
export type QuotaRefusal = (fault: Fault) => Error;

/**
 * Runs a change of a box within the transaction that stores it, and throws the error of `refuse` (Problem `invalid`) if
 * the box then has more of anything than before, and beyond the quota. A box beyond its quota keeps its data.
 */
export async function withinQuota<T>(
  connection: Connection,
  box: string,
  change: () => Promise<T>,
  refuse?: QuotaRefusal,
): Promise<T> {
  const before = await readUse(connection, box);
  const done = await change();
  const after = await readUse(connection, box);
  demandQuota(before, after, refuse);
  return done;
}

/** Throws the error of `refuse` if a box has more of anything than before its change, and beyond the quota. */
function demandQuota(
  before: BoxUse,
  after: BoxUse,
  refuse: QuotaRefusal = (fault) => new Problem('invalid', [fault]),
): void {
  const name = exceeded(before, after);
  if (name !== undefined) throw refuse(quotaFault(name, after));
}

/** Returns the fault of a change that exceeds a quota. */
export function quotaFault(name: StoredQuotaName, { quota }: Pick<BoxUse, 'quota'>): Fault {
  return { path: '', message: quotaSentence(name, quota[name]) };
}

const stored: readonly StoredQuotaName[] = ['clients', 'policies', 'users', 'groups', 'bytes'];

function exceeded(before: BoxUse, { use, quota }: BoxUse): StoredQuotaName | undefined {
  return stored.find((name) => use[name] > quota[name] && use[name] > before.use[name]);
}
