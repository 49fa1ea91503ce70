import type { Kind } from '../../../crds/kind.ts';
import { countFound, readSpan } from '../core/found-rows.ts';
import type { Source } from '../core/found-rows.ts';
import { momentAt, Parameters } from '../core/keyset.ts';
import type { Page, SortColumn, Span, TimeRange } from '../core/keyset.ts';
import { resourceColumns, storedResource } from './resource.ts';
import type { ResourceColumns, StoredResource } from './resource.ts';
import type { Connection } from '../core/transaction.ts';

/** Filters of a search for resources. */
export interface ResourceFilters {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
  readonly grantType?: string | undefined;
  readonly engine?: string | undefined;
  readonly subjects?: string | undefined;
  readonly link?: { readonly resourceType: string; readonly id: string } | undefined;
  readonly createdAt?: TimeRange | undefined;
}

/** A search among the resources of one kind in a box. */
export interface ResourceSearch {
  readonly box: string;
  readonly kind: Kind;
  readonly filters: ResourceFilters;
}

/** Sort keys of resources; each has an index. */
export type ResourceSort = 'id' | 'created_at';

const sortColumns = {
  id: [{ column: 'r.id', type: 'text' }],
  created_at: [
    { column: 'r.created_at', type: 'timestamptz' },
    { column: 'r.id', type: 'text' },
  ],
} as const satisfies Record<ResourceSort, readonly SortColumn[]>;

/** Reads one span of the resources that a search finds. */
export async function searchResources(
  connection: Connection,
  search: ResourceSearch,
  sort: ResourceSort,
  span: Span,
): Promise<Page<StoredResource>> {
  const source = sourceOf(search);
  const listing = { source, columns: resourceColumns, sort: sortColumns[sort] };
  const { rows, more } = await readSpan<ResourceColumns>(connection, listing, span);
  return { rows: rows.map(storedResource), more };
}

/** Counts the resources that a search finds, up to `most`. */
export function countResources(connection: Connection, search: ResourceSearch, most?: number): Promise<number> {
  return countFound(connection, sourceOf(search), most);
}

function sourceOf({ box, kind, filters }: ResourceSearch): Source {
  const parameters = new Parameters();
  const { id, name, active, grantType, engine, subjects, link, createdAt } = filters;
  const conditions = [`r.box = ${parameters.add(box)}`, `r.kind = ${parameters.add(kind)}`];
  const compare = (value: unknown, condition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(condition(parameters.add(value)));
  };
  compare(id, (place) => `r.id = ${place}`);
  compare(name, (place) => `r.body ->> 'name' = ${place}`);
  compare(active, (place) => `COALESCE((r.body ->> 'active')::boolean, true) = ${place}`);
  compare(grantType, (place) => `r.body -> 'grant_types' ? ${place}`);
  compare(engine, (place) => `r.body ->> 'engine' = ${place}`);
  compare(subjects, (place) => `COALESCE(r.body ->> 'subjects', 'linked') = ${place}`);
  compare(link === undefined ? undefined : JSON.stringify([link]), (place) => `r.body -> 'link' @> ${place}::jsonb`);
  compare(createdAt?.from, (place) => `r.created_at >= ${momentAt(place)}`);
  compare(createdAt?.to, (place) => `r.created_at < ${momentAt(place)}`);
  const size = 'boxgate.bytes_of(r.body)';
  return { from: `boxgate.resource r WHERE ${conditions.join(' AND ')}`, size, parameters };
}
