import { countFound, readSpan } from '../core/found-rows.ts';
import type { Source } from '../core/found-rows.ts';
import { groupColumns, storedGroup } from './group.ts';
import type { GroupColumns, StoredGroup } from './group.ts';
import { momentAt, Parameters } from '../core/keyset.ts';
import type { Page, SortColumn, Span, TimeRange } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';

/** Filters of a search for groups. */
export interface GroupFilters {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
}

/** A search among the groups of a box. */
export interface GroupSearch {
  readonly box: string;
  readonly filters: GroupFilters;
}

/** Sort keys of groups; each has an index. */
export type GroupSort = 'id' | 'name' | 'created_at';

const sortColumns = {
  id: [{ column: 'g.id', type: 'bigint' }],
  name: [{ column: 'g.name', type: 'text' }],
  created_at: [
    { column: 'g.created_at', type: 'timestamptz' },
    { column: 'g.id', type: 'bigint' },
  ],
} as const satisfies Record<GroupSort, readonly SortColumn[]>;

/** Reads one span of the groups that a search finds. */
export async function searchGroups(
  connection: Connection,
  search: GroupSearch,
  sort: GroupSort,
  span: Span,
): Promise<Page<StoredGroup>> {
  const source = sourceOf(search);
  const listing = { source, columns: groupColumns, sort: sortColumns[sort] };
  const { rows, more } = await readSpan<GroupColumns>(connection, listing, span);
  return { rows: rows.map(storedGroup), more };
}

/** Counts the groups that a search finds, up to `most`. */
export function countGroups(connection: Connection, search: GroupSearch, most?: number): Promise<number> {
  return countFound(connection, sourceOf(search), most);
}

function sourceOf({ box, filters }: GroupSearch): Source {
  const { id, name, createdAt } = filters;
  const parameters = new Parameters();
  const conditions = [`g.box = ${parameters.add(box)}`];
  if (id !== undefined) conditions.push(`g.id = ${parameters.add(id)}`);
  if (name !== undefined) conditions.push(`g.name = ${parameters.add(name)}`);
  if (createdAt?.from !== undefined) conditions.push(`g.created_at >= ${momentAt(parameters.add(createdAt.from))}`);
  if (createdAt?.to !== undefined) conditions.push(`g.created_at < ${momentAt(parameters.add(createdAt.to))}`);
  const size = 'octet_length(concat(g.name, g.description))';
  return { from: `boxgate.group g WHERE ${conditions.join(' AND ')}`, size, parameters };
}
