import { randomBytes } from 'node:crypto';
import { generatedSecretText } from '../../crds/generated-secret-text.ts';
import type { Resource } from '../../crds/validate.ts';
import type { ApplyLine, DeclareLine, DeleteLine, RowName } from '../client/desired-state.ts';
import type { PlannedObject } from '../schemas/plan.ts';
import type { PlannedRow } from '../db/resource/exported-rows.ts';
import type { Owner } from '../db/resource/resource.ts';
import { createTurns } from '../../program/scheduling.ts';
import { differingFields } from '../records/write/changed-fields.ts';
import { clusterOfBox } from '../db/box/box.ts';
import type { Connections } from '../db/core/pool.ts';
import { inBoxWithin } from '../db/core/transaction.ts';
import { plannedRows } from '../db/resource/exported-rows.ts';

/**
 * Verifies a client secret: true if it is one of the stored forms, undefined if it cannot be compared now. Throws
 * Problem, Outage.
 */
export type IsStoredSecret = (
  client: string,
  stored: readonly string[],
  secret: string,
) => Promise<boolean | undefined>;

/** Milliseconds: ten thousand rows are read in portions. */
const limit = 10_000;

/**
 * Reads the rows that a desired state is compared with: those that it names, and all that the installation declares in
 * the box. Then verifies the secrets that it gives, outside the transaction. Throws Outage, and what `isStored` throws.
 */
export async function readStoredRows(
  pool: Connections,
  box: string,
  objects: readonly WantedObject[],
  isStored: IsStoredSecret,
): Promise<StoredRows> {
  const read = await inBoxWithin(pool, box, { mode: 'snapshot', limit }, async (connection) => {
    const cluster = (await clusterOfBox(connection, box)) ?? 'none';
    const rows = await plannedRows(connection, box, cluster, objects);
    return { cluster, rows: new Map(rows.map((row) => [planKey(row), row])) };
  });
  return { box, ...read, ...(await comparedSecrets(objects, read.rows, isStored)) };
}

/** Compares the given secrets of existing clients with the stored ones. */
async function comparedSecrets(
  objects: readonly WantedObject[],
  rows: ReadonlyMap<string, PlannedRow>,
  isStored: IsStoredSecret,
): Promise<Pick<StoredRows, 'newSecrets' | 'notCompared'>> {
  const found = new Set<string>();
  const notCompared: string[] = [];
  for (const object of objects) {
    const { id, resource } = object;
    const row = rows.get(planKey(object));
    if (row === undefined || resource?.resourceType !== 'Client' || typeof resource.secret !== 'string') continue;
    const isSame = await isStored(id, row.secrets, resource.secret);
    if (isSame === undefined) notCompared.push(id);
    else if (!isSame) found.add(planKey(object));
  }
  return { newSecrets: found, notCompared };
}

/** An object of a desired state; without a resource its row stays as it is. */
export interface WantedObject extends Omit<PlannedObject, 'resource' | 'suspended'> {
  readonly resource: Resource | undefined;
}

/** Stored state of a box that a desired state is compared with, by row key. */
export interface StoredRows {
  readonly box: string;
  /** The installation whose objects declare the box. */
  readonly cluster: string;
  readonly rows: ReadonlyMap<string, PlannedRow>;
  /** Row keys of clients whose given secret is not a stored one. */
  readonly newSecrets: ReadonlySet<string>;
  /** IDs of clients whose given secret was not compared. */
  readonly notCompared: readonly string[];
}

/** Lines of an apply call that a desired state needs. */
export interface PlannedLines {
  readonly lines: readonly ApplyLine[];
  /** By row key: names of the fields that a line changes in an existing row. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** Returns the key of a row within its box. */
export function planKey({ kind, id }: RowName): string {
  return `${kind}/${id}`;
}

/**
 * Compares a desired state with the stored one, in turns of the event loop, as a pass of the operator does: rows that
 * no object wants are deleted, objects that differ are declared, and the rest is left alone. `objects` have distinct
 * row keys.
 */
export async function plannedLines(objects: readonly WantedObject[], stored: StoredRows): Promise<PlannedLines> {
  const turn = createTurns();
  const fields = new Map<string, readonly string[]>();
  const declared: DeclareLine[] = [];
  for (const object of objects) {
    await turn();
    const { resource } = object;
    if (resource === undefined) continue;
    const changed = changedFields({ ...object, resource }, stored);
    if (changed?.length === 0) continue;
    if (changed !== undefined) fields.set(planKey(object), changed);
    declared.push(declareLine({ ...object, resource }, stored));
  }
  return { lines: [...deleteLines(objects, stored), ...declared], fields };
}

/** An object whose row is compared. */
type ComparedObject = WantedObject & { readonly resource: Resource };

/** Uid of an object that has no row yet. */
const NEW_UID = 'planned';

/** Digest of planned rows; no row is ever stored with it. */
const DIGEST = '00';

function declareLine(object: ComparedObject, stored: StoredRows): DeclareLine {
  const { kind, id, name, adopt, retain, purge } = object;
  const { box, rows } = stored;
  return {
    kind,
    id,
    owner: { name: `${box}/${name}`, uid: rows.get(planKey(object))?.owner?.uid ?? NEW_UID },
    ...(adopt === undefined ? {} : { adopt }),
    ...(retain === undefined ? {} : { retain }),
    ...(purge === undefined ? {} : { purge }),
    digest: DIGEST,
    resource: withSecret(object, stored),
  };
}

/**
 * Returns the resource as the operator would send it: a secret that is the stored one is left out, and a new client
 * whose secret is not known gets one.
 */
function withSecret(object: ComparedObject, { rows, newSecrets }: StoredRows): Resource {
  const { resource } = object;
  if (resource.resourceType !== 'Client') return resource;
  const { secret, ...client } = resource;
  const isNew = !rows.has(planKey(object));
  if (isNew && secret === undefined) return { ...client, secret: generatedSecretText(randomBytes(32)) };
  return isNew || typeof secret !== 'string' || newSecrets.has(planKey(object)) ? resource : client;
}

/** Returns the fields in which an object differs from its row; undefined if there is no row. */
function changedFields(object: ComparedObject, stored: StoredRows): readonly string[] | undefined {
  const row = stored.rows.get(planKey(object));
  if (row === undefined) return undefined;
  const wanted = bodyOf(object);
  const changed = differingFields(row.body, wanted, [...Object.keys(row.body), ...Object.keys(wanted)]);
  const secret = changesSecret(object, row, stored.newSecrets) ? ['secret'] : [];
  const owner = isOwn(object, row.owner, stored) ? [] : ['owner'];
  return [...changed, ...secret, ...owner];
}

function bodyOf({ resource }: ComparedObject): Readonly<Record<string, unknown>> {
  const { secret: _secret, ...body } = { secret: undefined, ...resource };
  return body;
}

function changesSecret(object: ComparedObject, { secrets }: PlannedRow, newSecrets: ReadonlySet<string>): boolean {
  if (object.resource.resourceType !== 'Client') return false;
  return object.resource.secret === null ? secrets.length > 0 : newSecrets.has(planKey(object));
}

function isOwn({ name }: WantedObject, owner: Owner | undefined, { box, cluster }: StoredRows): boolean {
  return owner?.cluster === cluster && owner.name === `${box}/${name}`;
}

/** Returns the deletions of rows that an object declared and that no object of that name declares now. */
function deleteLines(objects: readonly WantedObject[], stored: StoredRows): readonly DeleteLine[] {
  const wanted = new Map(objects.map((object) => [planKey(object), object]));
  return [...stored.rows.values()].flatMap(({ kind, id, owner, retain }) => {
    if (owner?.cluster !== stored.cluster) return [];
    const object = wanted.get(planKey({ kind, id }));
    if (object !== undefined && isOwn(object, owner, stored)) return [];
    const line = { kind, id, owner: { name: owner.name, uid: owner.uid ?? '' }, delete: true } as const;
    return [retain ? { ...line, retain } : line];
  });
}
