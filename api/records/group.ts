import { isDeepStrictEqual } from 'node:util';
import { MOST_HINTS, wordHint } from '../../crds/did-you-mean.ts';
import type { Fault } from '../../crds/fault.ts';
import { NUMBERED_ID } from '../../crds/fields.ts';
import { isObject } from '../../crds/path.ts';
import { refusalTexts } from '../../crds/user-faults.ts';
import { checkResource } from '../../crds/validate.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import { bumpVersion } from '../db/box/box.ts';
import { lockUse } from '../db/box/box-use.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { deleteGroup, groupListing, groupOfName, groupUse, insertGroup, readGroup, updateGroup } from '../db/group.ts';
import type { GroupContent, StoredGroup } from '../db/group.ts';
import { Problem } from '../problem.ts';
import { readDates, readNumber } from './search/values.ts';
import { searchable } from './search/search.ts';
import { changing, changingRights, refuseManaged, withinQuota } from './write/change.ts';
import type { ChangingServices } from './write/change.ts';
import { differingFields } from './write/changed-fields.ts';
import { demandPreconditions } from './write/conditions.ts';
import type { Preconditions } from './write/conditions.ts';
import { groupSchema } from '../schemas/group.ts';
import type { GroupView } from '../schemas/group.ts';
import { admins } from '../users/admins.ts';
import { changedDocument, defineRecord } from './record.ts';
import type { ChangeOfRecord } from './record.ts';

const idForm = new RegExp(NUMBERED_ID);

/** Groups of users. */
export const group = defineRecord({
  kind: 'Group',
  search: searchable(groupListing, {
    elements: new Set(Object.keys(groupSchema.properties)),
    sort: 'id',
    filters: {
      id: (text, parameter) => ({ id: readNumber(parameter, text, 1, Number.MAX_SAFE_INTEGER) }),
      name: (text) => ({ name: text }),
    },
    ranges: { created_at: (texts, parameter) => ({ createdAt: readDates(parameter, texts) }) },
  }),
  view,
  version: ({ version }) => version,
  owner: ({ owner }) => owner,
  idOf: (text) => (idForm.test(text) ? Number(text) : undefined),
  read: readGroup,
  create,
  change,
  changedFields: (row, requested) => changedFields(row, row ? changedDocument(view(row), requested) : requested.value),
  remove,
});

/** Shows a group; `members` is the number of users that are in it now. */
function view({ id, name, description, createdAt, members }: StoredGroup): GroupView {
  const created = new Date(createdAt).toISOString();
  return { resourceType: 'Group', id, name, description, created_at: created, members };
}

/** Creates a group with a new id. Throws Problem `invalid` (also beyond a quota), `conflict` (name taken), Outage. */
function create(services: ChangingServices, box: string, value: unknown): Promise<StoredGroup> {
  const content = contentOf(value);
  return changing(services, box, async (connection, note) => {
    const made = await insertWithinQuota(connection, box, content, note);
    return made ?? taken();
  });
}

async function insertWithinQuota(
  connection: Connection,
  box: string,
  content: GroupContent,
  note: NoteEvent,
): Promise<StoredGroup | undefined> {
  const version = await bumpVersion(connection, box);
  const made = await withinQuota(connection, box, () => insertGroup(connection, box, version, content));
  if (made !== undefined) note({ event: 'group.created', target: target(made.id) });
  return made;
}

/**
 * Returns the id of the group that the settings of a box name, and creates the group if it is missing. Throws Problem
 * `invalid` beyond a quota of the box, and Outage.
 */
export async function groupNamed(services: ChangingServices, box: string, name: string): Promise<number> {
  const found = await inBox(services.pool, box, 'snapshot', (connection) => groupOfName(connection, box, name));
  if (found !== undefined) return found;
  return changing(services, box, async (connection, note) => {
    // Another call may have created it meanwhile; from here on none does.
    const present = await groupOfName(connection, box, name);
    if (present !== undefined) return present;
    const made = await insertWithinQuota(connection, box, { name, description: null }, note);
    if (made === undefined) throw new Error(`the group ${name} of box ${box} is there, and is not`);
    return made.id;
  });
}

/**
 * Replaces the name and the description of a group; undefined when there is none. Throws Problem `invalid`, `conflict`
 * (it is managed, its name is taken, or a policy or the Box uses it), `precondition-failed`, ChangedMeanwhile, and
 * Outage.
 */
function change(
  services: ChangingServices,
  box: string,
  { id, requested, preconditions, confirmChanges }: ChangeOfRecord<number>,
): Promise<StoredGroup | undefined> {
  return changingRights(services, box, async (connection, note) => {
    const current = await readGroup(connection, box, id);
    if (current === undefined) return undefined;
    refuseDeclared(current, services);
    const present = view(current);
    const wanted = changedDocument(present, requested);
    const changed = changedFields(current, wanted);
    confirmChanges?.(() => changed);
    const content = contentOf(wanted, present);
    demandPreconditions(preconditions, current.version);
    // A change without effect keeps the version.
    if (changed.length === 0) return current;
    const isRenamed = content.name !== current.name;
    if (isRenamed) await refuseLinked(connection, box, { name: current.name });
    const use =
      isRenamed && content.name !== current.lastName ? await useOfName(connection, box, content.name) : undefined;
    const version = await bumpVersion(connection, box);
    // Thrown within: after a refused name the transaction reads nothing more.
    return withinQuota(connection, box, async () => {
      const stored = await updateGroup(connection, box, { id, version }, content);
      if (stored === 'taken') return taken();
      // Now that the new name is locked, nobody who creates a user adds a member.
      if (use !== undefined && stored !== undefined && stored.members > 0) throw nameInUse(use);
      note({ event: 'group.changed', target: target(id), changed });
      return stored;
    });
  });
}

/** Milliseconds that removing a million members may take. */
const longestRemoval = 20_000;

/**
 * Deletes a group and returns it; undefined if it was not there. Throws Problem `conflict` (it is managed, or
 * a policy or the Box uses it), `precondition-failed`, and Outage.
 */
function remove(
  services: ChangingServices,
  box: string,
  id: number,
  preconditions: Preconditions,
): Promise<StoredGroup | undefined> {
  const removing = async (connection: Connection, note: NoteEvent): Promise<StoredGroup | undefined> => {
    const current = await readGroup(connection, box, id);
    if (current !== undefined) refuseDeclared(current, services);
    demandPreconditions(preconditions, current?.version);
    if (current === undefined) return undefined;
    await lockUse(connection, box);
    await refuseLinked(connection, box, { name: current.name, id });
    await deleteGroup(connection, box, id);
    note({ event: 'group.deleted', target: target(id) });
    return current;
  };
  return changingRights(services, box, removing, longestRemoval);
}

/** Returns the names of the fields of a group that a request would change; `current` is undefined for a new one. */
function changedFields(current: GroupContent | undefined, wanted: unknown): readonly string[] {
  if (!isObject(wanted)) return [];
  const { name, description = null } = wanted;
  const before = current === undefined ? { description: null } : { ...current };
  return differingFields(before, { name, description }, ['name', 'description']);
}

/**
 * Reads a submitted group, by the rules of a declared one. Fields that the service sets (`id`, `created_at`, `members`)
 * may be given as in `present`, so that a group that was read can be sent back. Throws Problem `invalid` with every
 * fault.
 */
function contentOf(value: unknown, present?: GroupView): GroupContent {
  if (!isObject(value)) throw new Problem('invalid', 'The body must be an object');
  const { name, description = null, resourceType = 'Group', ...others } = value;
  const given = Object.entries({ name, description }).filter(([, one]) => one !== undefined && one !== null);
  const checked = checkResource('Group', Object.fromEntries(given));
  const faults: readonly Fault[] = [
    ...(resourceType === 'Group' ? [] : [{ path: 'resourceType', message: 'must be Group' }]),
    ...(checked.ok ? [] : checked.faults),
    ...foreignFaults(others, present),
  ];
  if (faults.length > 0 || typeof name !== 'string') throw new Problem('invalid', faults);
  return { name, description: typeof description === 'string' ? description : null };
}

/** Fields that the service sets: they are ignored in a new group, so that one that was read can be created again. */
const setByService: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'meta']);

function foreignFaults(others: Readonly<Record<string, unknown>>, present: GroupView | undefined): readonly Fault[] {
  const isIgnored = (name: string): boolean => present === undefined && setByService.has(name);
  const shown = new Map<string, unknown>(Object.entries(present ?? {}));
  return Object.entries(others)
    .filter(([name, value]) => !isIgnored(name) && !(shown.has(name) && isDeepStrictEqual(shown.get(name), value)))
    .map(([path], nth) => {
      const hint = nth < MOST_HINTS ? wordHint(path, ['name', 'description']) : '';
      return { path, message: `cannot be set: the fields of a group are name and description${hint}` };
    });
}

/** Refuses a managed group. Its members are data of the box and may change. Throws Problem `conflict`. */
function refuseDeclared({ name, owner }: StoredGroup, services: Pick<ChangingServices, 'folder'>): void {
  refuseManaged({ kind: 'Group', id: name, owner }, services);
}

/** Refuses to take a group from a policy or the Box that refers to it. Throws Problem `conflict`. */
async function refuseLinked(connection: Connection, box: string, group: Parameters<typeof groupUse>[2]): Promise<void> {
  const where = await useOf(connection, box, group);
  if (where === undefined) return;
  const message = `The group ${group.name} ${where}: remove it there first, or link it there by its id to rename it`;
  throw new Problem('conflict', message);
}

/** Returns the use of a name that a renamed group would take, as the end of a sentence; undefined if there is none. */
async function useOfName(connection: Connection, box: string, name: string): Promise<string | undefined> {
  return name === admins ? 'is the group of administrators' : useOf(connection, box, { name });
}

async function useOf(
  connection: Connection,
  box: string,
  group: Parameters<typeof groupUse>[2],
): Promise<string | undefined> {
  const use = await groupUse(connection, box, group);
  if (use === undefined) return undefined;
  return use.kind === 'Box' ? 'is the registration.default_group of the Box' : `is linked by AccessPolicy ${use.id}`;
}

/** A name's policies would apply to the group's members. */
function nameInUse(where: string): Problem {
  const message = `${where}: no group with members can take it. Create a new group with this name instead`;
  return new Problem('conflict', [{ path: 'name', message }]);
}

function target(id: number): string {
  return `Group/${String(id)}`;
}

function taken(): never {
  throw new Problem('conflict', [{ path: 'name', message: refusalTexts['group-taken'] }]);
}
