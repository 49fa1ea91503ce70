import { inPortions } from '../../program/scheduling.ts';
import { isDeepStrictEqual } from 'node:util';
import type { SecurityEvent } from '../audit/audit-trail.ts';
import { Outage } from '../db/core/outage.ts';
import {
  isAnothers,
  storedContents,
  digestsOf,
  findResources,
  type DeclaredResource,
  type ResourceKey,
} from '../db/resource/resource.ts';
import type { Owner, StoredContent } from '../db/resource/resource.ts';
import { storeResources } from '../db/resource/store.ts';
import type { ResourceWrite } from '../db/resource/store.ts';
import {
  groupContents,
  storeGroups,
  declaredGroups,
  deleteGroups,
  findGroups,
  releaseGroups,
} from '../db/declared-group.ts';
import type { GroupContent, GroupWrite, GroupIds } from '../db/declared-group.ts';
import { storeEvent } from '../records/write/changed-fields.ts';
import type { PlannedWrite } from './plan.ts';
import type { Applying } from './claims.ts';
import type { RowName } from '../client/desired-state.ts';
import { lockUse } from '../db/box/box-use.ts';
import type { Connection } from '../db/core/transaction.ts';
import { deleteResources, releaseResources } from '../db/resource/write.ts';

/** Writes of a call, and what they need to be stored. */
export interface PlannedWrites {
  readonly writes: readonly PlannedWrite[];
  /** The declaring cluster. */
  readonly cluster: string;
  /** The stored forms of secrets, by their text. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** Stores what a call declares under the box's new config version, and notes what changed. Throws Outage. */
export async function storeWrites(
  { connection, note }: Applying,
  box: string,
  version: number,
  { writes, cluster, hashes }: PlannedWrites,
): Promise<void> {
  for (const part of inPortions(writes, writesInStatement)) {
    const groups = part.flatMap((write) => groupWrite(write, cluster) ?? []);
    const others = groups.length === 0 ? part : part.filter(({ line }) => line.kind !== 'Group');
    const resources = others.map((write) => resourceWrite(write, cluster, hashes));
    const before = await storedContents(connection, box, resources);
    await storeResources(connection, box, version, resources);
    for (const write of resources) note(writeEvent(write, before.get(`${write.kind}/${write.id}`)));
    if (groups.length === 0) continue;
    const names = groups.map(({ name }) => name);
    const contents = await groupContents(connection, box, names);
    const ids = await storeGroups(connection, box, version, groups);
    for (const write of groups) note(groupEvent(write, ids.get(write.name), contents.get(write.name)));
  }
}

function writeEvent(
  { kind, id, body, secrets, owner }: ResourceWrite,
  before: StoredContent | undefined,
): SecurityEvent {
  const changesSecret = secrets !== undefined && !isDeepStrictEqual(secrets, before?.secrets);
  const unshown = [...(changesSecret ? ['secret'] : []), ...ownerChange(before?.owner, owner)];
  return storeEvent({ kind, id }, before?.body, body, unshown);
}

/** Returns the event of a stored group. Its target is the number, as over REST: a name can be another group later. */
function groupEvent(
  { name, description, owner }: GroupWrite,
  id: number | undefined,
  before: GroupContent | undefined,
): SecurityEvent {
  if (id === undefined) throw new TypeError(`the group ${name} was not stored`);
  const previous = before && { description: before.description };
  return storeEvent({ kind: 'Group', id: String(id) }, previous, { description }, ownerChange(before?.owner, owner));
}

/** Returns `owner` if the declaring object takes over a row of another owner, or of none. */
function ownerChange(before: Owner | undefined, owner: Owner | undefined): readonly string[] {
  return owner !== undefined && isAnothers(before, owner) ? ['owner'] : [];
}

/** Limit of writes in one statement, which bounds its memory. */
const writesInStatement = 1_000;

/** Returns what is stored of a declared group; undefined for anything else. */
function groupWrite({ line, resource }: PlannedWrite, cluster: string): GroupWrite | undefined {
  if (resource.resourceType !== 'Group') return undefined;
  const { name, description = null } = resource;
  const owner = { cluster, name: line.owner.name, uid: line.owner.uid };
  return { name, description, owner, digest: line.digest, retain: line.retain === true };
}

function resourceWrite(
  { line, resource, previous, isPartial }: PlannedWrite,
  cluster: string,
  hashes: ReadonlyMap<string, string>,
): ResourceWrite {
  const { secret, ...body } = { secret: undefined, ...resource };
  return {
    kind: line.kind,
    id: line.id,
    body,
    secrets: storedSecrets(secret, hashes),
    previous: storedPrevious(secret, previous, hashes),
    owner: { cluster, name: line.owner.name, uid: line.owner.uid },
    digest: isPartial === true ? undefined : line.digest,
    retain: line.retain === true,
    purge: line.purge === true,
  };
}

/** Returns the stored forms of a secret. Undefined keeps the present ones; null removes them. */
function storedSecrets(
  secret: string | null | undefined,
  hashes: ReadonlyMap<string, string>,
): readonly string[] | undefined {
  if (secret === undefined) return undefined;
  if (secret === null) return [];
  return [hashOf(secret, hashes)];
}

/** Returns the previous secret to store. Without one the stored one is removed, unless the present secret is kept. */
function storedPrevious(
  secret: string | null | undefined,
  previous: PlannedWrite['previous'],
  hashes: ReadonlyMap<string, string>,
): ResourceWrite['previous'] {
  if (previous === undefined) return secret === undefined ? undefined : null;
  const { secret: text, until } = previous;
  return text === undefined ? { stored: undefined, until } : { stored: hashOf(text, hashes), until };
}

function hashOf(secret: string, hashes: ReadonlyMap<string, string>): string {
  const hash = hashes.get(secret);
  if (hash === undefined) throw new Outage('the rows moved while secrets were hashed');
  return hash;
}

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
