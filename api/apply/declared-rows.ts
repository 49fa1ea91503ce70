import type { RowName } from '../client/desired-state.ts';
import { lockUse } from '../db/box/box-use.ts';
import type { Connection } from '../db/core/transaction.ts';
import { digestsOf, findResources, type DeclaredResource, type ResourceKey } from '../db/resource/resource.ts';
import { deleteResources, releaseResources } from '../db/resource/write.ts';
import { declaredGroups, deleteGroups, findGroups, releaseGroups } from '../db/user/declared-group.ts';
import type { GroupIds } from '../db/user/declared-group.ts';

/*
 * Rows that objects declare. A group is stored among the people of a box, everything else as a resource; an apply
 * treats both alike.
 */

/** Reads all rows of a box that a cluster declares. */
export async function declaredRows(
  connection: Connection,
  box: string,
  cluster: string,
): Promise<readonly DeclaredResource[]> {
  const resources = await digestsOf(connection, box, cluster);
  const groups = await declaredGroups(connection, box, cluster);
  return groups.length === 0 ? resources : [...resources, ...groups];
}

/** Finds those of the named rows that exist, whoever created them. */
export async function findRows(
  connection: Connection,
  box: string,
  keys: readonly RowName[],
): Promise<readonly DeclaredResource[]> {
  const { resources, groups } = byTable(keys);
  const found = resources.length === 0 ? [] : await findResources(connection, box, resources);
  return groups.length === 0 ? found : [...found, ...(await findGroups(connection, box, groups))];
}

/** Deletes rows under the box's new config version, and returns what was deleted: a group by its number. */
export async function deleteRows(
  connection: Connection,
  box: string,
  version: number,
  keys: readonly RowName[],
): Promise<readonly ResourceKey[]> {
  const { resources, groups } = byTable(keys);
  if (resources.length > 0) await deleteResources(connection, box, version, resources);
  if (groups.length === 0) return resources;
  // Before the rows of the groups: creating a user locks the two in this order.
  await lockUse(connection, box);
  return [...resources, ...numbered(await deleteGroups(connection, box, groups))];
}

/**
 * Removes the owner of rows under the box's new config version: they stay. Returns what was released, a group by its
 * number.
 */
export async function releaseRows(
  connection: Connection,
  box: string,
  version: number,
  keys: readonly RowName[],
): Promise<readonly ResourceKey[]> {
  const { resources, groups } = byTable(keys);
  if (resources.length > 0) await releaseResources(connection, box, version, resources);
  if (groups.length === 0) return resources;
  return [...resources, ...numbered(await releaseGroups(connection, box, version, groups))];
}

function numbered(groups: GroupIds): readonly ResourceKey[] {
  return Array.from(groups.values(), (id) => ({ kind: 'Group', id: String(id) }));
}

function byTable(keys: readonly RowName[]): {
  readonly resources: readonly RowName[];
  readonly groups: readonly string[];
} {
  const groups = keys.flatMap(({ kind, id }) => (kind === 'Group' ? [id] : []));
  return groups.length === 0
    ? { resources: keys, groups }
    : { resources: keys.filter(({ kind }) => kind !== 'Group'), groups };
}
