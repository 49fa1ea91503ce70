import { bumpVersion } from '../db/box.ts';
import { deleteGroup, insertGroup, readGroup, updateGroup } from '../db/group.ts';
import type { StoredGroup } from '../db/group.ts';
import { inBox } from '../db/transaction.ts';
import { Problem } from '../problem.ts';
import { changing } from '../resources/change.ts';
import { demandPreconditions } from '../resources/etag.ts';
import type { Preconditions } from '../resources/etag.ts';
import type { ResourceServices } from '../resources/services.ts';
import { readGroupSubmission } from './group-submission.ts';
import { groupView } from './group-view.ts';
import type { GroupView } from './group-view.ts';

type GroupServices = Pick<ResourceServices, 'pool' | 'revocationsNeedStandby'>;

/** Reads one group; undefined when there is none. Throws Outage. */
export function getGroup(services: GroupServices, box: string, id: number): Promise<StoredGroup | undefined> {
  return inBox(services.pool, box, 'snapshot', (connection) => readGroup(connection, box, id));
}

/** Creates a group, whose id the service gives. Throws Problem `invalid`, `conflict` (the name is taken), and Outage. */
export async function createGroup(services: GroupServices, box: string, value: unknown): Promise<StoredGroup> {
  const content = readGroupSubmission(value);
  return changing(services, box, async (connection) => {
    const group = await insertGroup(connection, box, await bumpVersion(connection, box), content);
    return group ?? taken();
  });
}

/** How the caller wants a group to be, from how it is. */
export type GroupWish = (present: GroupView) => unknown;

/**
 * Replaces the name and the description of a group; undefined when there is none. Throws Problem `invalid`, `conflict`
 * (the name is taken), `precondition-failed`, and Outage.
 */
export function changeGroup(
  services: GroupServices,
  box: string,
  id: number,
  wish: GroupWish,
  preconditions: Preconditions,
): Promise<StoredGroup | undefined> {
  return changing(services, box, async (connection) => {
    const current = await readGroup(connection, box, id);
    if (current === undefined) return undefined;
    const present = groupView(current);
    const content = readGroupSubmission(wish(present), present);
    demandPreconditions(preconditions, current.version);
    // What changes nothing keeps its version.
    if (content.name === current.name && content.description === current.description) return current;
    const group = await updateGroup(connection, box, await bumpVersion(connection, box), id, content);
    return group === 'taken' ? taken() : group;
  });
}

/** Milliseconds that it may take to let a million members go. */
const longestRemoval = 20_000;

/** Deletes a group and returns it; undefined when it was not there. Throws Problem `precondition-failed`, and Outage. */
export function removeGroup(
  services: GroupServices,
  box: string,
  id: number,
  preconditions: Preconditions,
): Promise<StoredGroup | undefined> {
  const remove = async (connection: Parameters<typeof readGroup>[0]): Promise<StoredGroup | undefined> => {
    const current = await readGroup(connection, box, id);
    demandPreconditions(preconditions, current?.version);
    return current === undefined ? undefined : deleteGroup(connection, box, id);
  };
  return changing(services, box, remove, longestRemoval);
}

function taken(): never {
  throw new Problem('conflict', [{ path: 'name', message: 'is taken: another group of this box has it' }]);
}
