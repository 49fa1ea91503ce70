import pg from 'pg';
import { useIn } from '../box/box-use.ts';
import type { BoxUse, UseColumns } from '../box/box-use.ts';
import type { Beginning, Connection, Row } from '../core/transaction.ts';
import { storedResource } from './resource.ts';
import type { ResourceColumns, ResourceKey, StoredResource } from './resource.ts';
import { followResources, recordsOf } from './write.ts';
import type { ResourceWrite } from './write.ts';

/** A resource before or after its change, with the counts of its box. */
export interface CountedResource<Resource> {
  readonly resource: Resource;
  readonly use: BoxUse;
}

/**
 * Returns the beginning of a transaction that changes one resource: it locks the box's row as `lockResources` does, and
 * then reads the resource and the counts of the box.
 */
export function beginChange({ kind, id }: ResourceKey): Beginning {
  const [ofKind, withId] = [pg.escapeLiteral(kind), pg.escapeLiteral(id)];
  return { mode: 'write', statement: (box) => `SELECT * FROM boxgate.begin_change(${box}, ${ofKind}, ${withId})` };
}

/** Converts the rows of {@link beginChange}; undefined if there is no such box, without a resource if it has none. */
export function begunChange(rows: readonly Row[]): CountedResource<StoredResource | undefined> | undefined {
  const [row] = rows.filter(isBegun);
  if (row === undefined) return undefined;
  return { resource: row.kind === null ? undefined : storedResource(row), use: useIn(row) };
}

type FoundColumns = UseColumns & (ResourceColumns | { readonly kind: null });

function isBegun(row: Row): row is Row & FoundColumns {
  return 'kind' in row && 'quota' in row;
}

/**
 * Stores one resource as `upsertResources` does, under a new config version of its box; returns it, with the counts of
 * the box afterwards.
 */
export async function changeResource(
  connection: Connection,
  box: string,
  write: ResourceWrite,
): Promise<CountedResource<StoredResource>> {
  const { rows } = await connection.query<ResourceColumns & UseColumns>(
    'SELECT * FROM boxgate.change_resource($1, $2)',
    [box, recordsOf([write])],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no row of box ${box}`);
  const resource = storedResource(row);
  await followResources(connection, box, resource.version, [write]);
  return { resource, use: useIn(row) };
}
