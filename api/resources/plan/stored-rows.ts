import { clusterOfBox } from '../../db/box/box-cluster.ts';
import { inBoxWithin } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { Connections } from '../../db/core/pool.ts';
import { storedContents } from '../../db/resource/resource.ts';
import { groupContents } from '../../db/user/declared-group.ts';
import { declaredRows, findRows } from '../apply/declared-rows.ts';
import { planKey } from './planned-lines.ts';
import type { PlannedContent, StoredRows, WantedObject } from './planned-lines.ts';

/**
 * Verifies a client secret: true if it is one of the stored forms, undefined if it cannot be compared now. Throws Problem,
 * Outage.
 */
export type IsStoredSecret = (
  client: string,
  stored: readonly string[],
  secret: string,
) => Promise<boolean | undefined>;

/** Content of a row with its stored secrets. */
interface Content extends PlannedContent {
  readonly secrets: readonly string[];
}

/** Milliseconds: ten thousand rows are read in portions. */
const limit = 10_000;

/** Rows of one statement. */
const portion = 500;

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
  const { contents, ...read } = await inBoxWithin(pool, box, { mode: 'snapshot', limit }, (connection) =>
    readRows(connection, box, objects),
  );
  return { box, ...read, contents, ...(await comparedSecrets(objects, contents, isStored)) };
}

async function readRows(connection: Connection, box: string, objects: readonly WantedObject[]) {
  const cluster = (await clusterOfBox(connection, box)) ?? 'none';
  const rows = new Map((await declaredRows(connection, box, cluster)).map((row) => [planKey(row), row]));
  const contents = new Map<string, Content>();
  for (let from = 0; from < objects.length; from += portion) {
    const part = objects.slice(from, from + portion);
    const others = part.filter((object) => !rows.has(planKey(object)));
    for (const row of await findRows(connection, box, others)) rows.set(planKey(row), row);
    for (const [key, content] of await contentsOf(connection, box, part)) contents.set(key, content);
  }
  return { cluster, rows, contents };
}

async function contentsOf(
  connection: Connection,
  box: string,
  objects: readonly WantedObject[],
): Promise<readonly (readonly [string, Content])[]> {
  const names = objects.flatMap(({ kind, id }) => (kind === 'Group' ? [id] : []));
  const others = objects.filter(({ kind }) => kind !== 'Group');
  const resources = await storedContents(connection, box, others);
  const groups = names.length === 0 ? new Map<string, never>() : await groupContents(connection, box, names);
  return [
    ...Array.from(
      resources,
      ([key, { body, secrets }]) => [key, { body, secrets, hasSecret: secrets.length > 0 }] as const,
    ),
    ...Array.from(groups, ([name, { description }]) => [`Group/${name}`, groupContent(name, description)] as const),
  ];
}

function groupContent(name: string, description: string | null): Content {
  const body = { resourceType: 'Group', name, ...(description === null ? {} : { description }) };
  return { body, secrets: [], hasSecret: false };
}

/** Compares the given secrets of existing clients with the stored ones. */
async function comparedSecrets(
  objects: readonly WantedObject[],
  contents: ReadonlyMap<string, Content>,
  isStored: IsStoredSecret,
): Promise<Pick<StoredRows, 'newSecrets' | 'notCompared'>> {
  const found = new Set<string>();
  const notCompared: string[] = [];
  for (const object of objects) {
    const { id, resource } = object;
    const content = contents.get(planKey(object));
    if (content === undefined || resource?.resourceType !== 'Client' || typeof resource.secret !== 'string') continue;
    const isSame = await isStored(id, content.secrets, resource.secret);
    if (isSame === undefined) notCompared.push(id);
    else if (!isSame) found.add(planKey(object));
  }
  return { newSecrets: found, notCompared };
}
