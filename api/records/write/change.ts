import { demandStandby } from '../../db/box/box.ts';
import { hasAdministrator } from '../../db/group.ts';
import { lockResources } from '../../db/resource/write.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { inBoxRecorded } from '../../audit/recorded.ts';
import type { NoteEvent, RecordedWork } from '../../audit/recorded.ts';
import { requestLimit } from '../../db/core/with-connection.ts';
import { nothingHere, Problem } from '../../problem.ts';
import type { ResourceServices } from '../services.ts';
import type { Fault } from '../../../crds/fault.ts';
import { quotaSentence } from '../../../crds/quota.ts';
import { lockUse, readUse } from '../../db/box/box-use.ts';
import type { BoxUse, StoredQuotaName } from '../../db/box/box-use.ts';

/** Makes the error of a change that exceeds a quota. */
type QuotaRefusal = (fault: Fault) => Error;

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
  const before = await lockUse(connection, box);
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

/** Dependencies of a change. */
export type ChangingServices = Pick<ResourceServices, 'pool' | 'trail' | 'revocationsNeedStandby' | 'folder'>;

/**
 * Runs a change of a box, one at a time per box: its reads are still true when it writes. The events that it notes are
 * recorded with it. Throws Problem `not-found` when there is no such box, and Outage; `limit` in milliseconds if it may
 * take longer than usual.
 */
export function changing<T>(
  services: ChangingServices,
  box: string,
  work: RecordedWork<T>,
  limit = requestLimit,
): Promise<T> {
  const change = async (connection: Connection, note: NoteEvent): Promise<T> => {
    if (services.revocationsNeedStandby) await demandStandby(connection);
    const version = await lockResources(connection, box);
    if (version === undefined) throw nothingHere();
    return work(connection, note);
  };
  return inBoxRecorded(services, box, change, limit);
}

/**
 * Runs a change that may take rights from users, as {@link changing} does. Throws Problem `conflict` as well if it
 * takes the last administrator.
 */
export function changingRights<T>(
  services: ChangingServices,
  box: string,
  work: RecordedWork<T>,
  limit?: number,
): Promise<T> {
  const change = async (connection: Connection, note: NoteEvent): Promise<T> => {
    const hadAdministrator = await hasAdministrator(connection, box);
    const done = await work(connection, note);
    if (hadAdministrator && !(await hasAdministrator(connection, box))) throw lastAdministrator();
    return done;
  };
  return changing(services, box, change, limit);
}

/** A box without administrators could only be changed by its declarations or by `boxgate admin reset`. */
function lastAdministrator(): Problem {
  return new Problem(
    'conflict',
    'This takes the last administrator of the box: no active user would be linked to a policy with engine allow, ' +
      'directly or by a group. Give these rights to another user first',
  );
}

/**
 * Refuses a resource that is declared, by a custom resource or by a manifest in `folder`: it would come back or drift.
 * Throws Problem `conflict`.
 */
export function refuseManaged(
  current: Pick<StoredResource, 'kind' | 'id' | 'owner'> | undefined,
  { folder }: Pick<ResourceServices, 'folder'>,
): void {
  if (current?.owner === undefined) return;
  const { kind, id, owner } = current;
  const by = folder === undefined ? 'the custom resource' : `a manifest in the folder ${folder}, as`;
  throw new Problem('conflict', `${kind} ${id} is declared by ${by} ${owner.name}: change or delete it there`);
}
