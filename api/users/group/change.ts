import { refusalTexts } from '../../../crds/user-faults.ts';
import type { NoteEvent } from '../../audit/recorded.ts';
import { bumpVersion } from '../../db/box/box.ts';
import { lockUse } from '../../db/box/box-use.ts';
import { deleteGroup, insertGroup, readGroup, updateGroup } from '../../db/user/group.ts';
import type { StoredGroup } from '../../db/user/group.ts';
import { groupNameUse } from '../../db/user/group-name-use.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import { changing, refuseManaged } from '../../resources/write/change.ts';
import type { ChangingServices } from '../../resources/write/change.ts';
import type { WriteConditions } from '../../resources/write/confirm-changes.ts';
import { demandPreconditions } from '../../resources/write/etag.ts';
import type { Preconditions } from '../../resources/write/etag.ts';
import { withinQuota } from '../../resources/write/within-quota.ts';
import { admins } from '../user/admins.ts';
import { changedGroupFields } from './changed-group-fields.ts';
import { readGroupSubmission } from './submission.ts';
import { groupView } from './view.ts';
import type { GroupView } from '../../schemas/group.ts';

/** Creates a group with a new id. Throws Problem `invalid` (also beyond a quota), `conflict` (name taken), Outage. */
export async function createGroup(services: ChangingServices, box: string, value: unknown): Promise<StoredGroup> {
  const content = readGroupSubmission(value);
  return changing(services, box, async (connection, note) => {
    const version = await bumpVersion(connection, box);
    const group = await withinQuota(connection, box, () => insertGroup(connection, box, version, content));
    if (group === undefined) return taken();
    note({ event: 'group.created', target: groupTarget(group.id) });
    return group;
  });
}

/** Function that makes the requested group from the present one. */
export type GroupWish = (present: GroupView) => unknown;

/** A change of a group, as it was requested. */
export interface RequestedGroupChange extends WriteConditions {
  readonly id: number;
  readonly wish: GroupWish;
}

/**
 * Replaces the name and the description of a group; undefined when there is none. Throws Problem `invalid`, `conflict`
 * (it is managed, its name is taken, or a policy or the Box uses it), `precondition-failed`, ChangedMeanwhile, and
 * Outage.
 */
export function changeGroup(
  services: ChangingServices,
  box: string,
  { id, wish, preconditions, confirmChanges }: RequestedGroupChange,
): Promise<StoredGroup | undefined> {
  return changing(services, box, async (connection, note) => {
    const current = await readGroup(connection, box, id);
    if (current === undefined) return undefined;
    refuseDeclared(current, services);
    const present = groupView(current);
    const wished = wish(present);
    confirmChanges?.(() => changedGroupFields(current, wished));
    const content = readGroupSubmission(wished, present);
    demandPreconditions(preconditions, current.version);
    // A change without effect keeps the version.
    if (content.name === current.name && content.description === current.description) return current;
    if (content.name !== current.name) await refuseNameInUse(connection, box, content.name);
    // Before the group's row: creating a user locks the two in this order.
    await lockUse(connection, box);
    const version = await bumpVersion(connection, box);
    // Thrown within: after a refused name the transaction reads nothing more.
    return withinQuota(connection, box, async () => {
      const group = await updateGroup(connection, box, { id, version }, content);
      if (group === 'taken') return taken();
      note({ event: 'group.changed', target: groupTarget(id), changed: changedGroupFields(current, wished) });
      return group;
    });
  });
}

/** Milliseconds that removing a million members may take. */
const longestRemoval = 20_000;

/**
 * Deletes a group and returns it; undefined if it was not there. Throws Problem `conflict` (it is managed),
 * `precondition-failed`, and Outage.
 */
export function removeGroup(
  services: ChangingServices,
  box: string,
  id: number,
  preconditions: Preconditions,
): Promise<StoredGroup | undefined> {
  const remove = async (connection: Connection, note: NoteEvent): Promise<StoredGroup | undefined> => {
    const current = await readGroup(connection, box, id);
    if (current !== undefined) refuseDeclared(current, services);
    demandPreconditions(preconditions, current?.version);
    if (current === undefined) return undefined;
    // Before the group's row: creating a user locks the two in this order.
    await lockUse(connection, box);
    note({ event: 'group.deleted', target: groupTarget(id) });
    return deleteGroup(connection, box, id);
  };
  return changing(services, box, remove, longestRemoval);
}

/** Refuses a managed group. Its members are data of the box and may change. Throws Problem `conflict`. */
function refuseDeclared({ name, owner }: StoredGroup, services: Pick<ChangingServices, 'folder'>): void {
  refuseManaged({ kind: 'Group', id: name, owner }, services);
}

/** Refuses a name in use, since its policies would apply to the group's members. Throws Problem `conflict`. */
async function refuseNameInUse(connection: Connection, box: string, name: string): Promise<void> {
  const where = name === admins ? 'is the group of administrators' : await placeOfName(connection, box, name);
  if (where === undefined) return;
  const message = `${where}: no group with members can take it. Create a new group with this name instead`;
  throw new Problem('conflict', [{ path: 'name', message }]);
}

/** Returns a place where the name of a group is used, as the end of a sentence; undefined if there is none. */
async function placeOfName(connection: Connection, box: string, name: string): Promise<string | undefined> {
  const use = await groupNameUse(connection, box, name);
  if (use === undefined) return undefined;
  return use.kind === 'Box' ? 'is the registration.default_group of the Box' : `is linked by AccessPolicy ${use.id}`;
}

function groupTarget(id: number): string {
  return `Group/${String(id)}`;
}

function taken(): never {
  throw new Problem('conflict', [{ path: 'name', message: refusalTexts['group-taken'] }]);
}
