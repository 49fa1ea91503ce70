import type { Kind } from '../../../crds/kind.ts';
import { listingOf } from '../core/listing.ts';
import type { Listing } from '../core/listing.ts';
import type { TimeRange } from '../core/keyset.ts';
import { resourceColumns, storedResource } from './resource.ts';
import type { ResourceColumns, StoredResource } from './resource.ts';

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

const ownId = { column: 'r.id', type: 'text', keyOf: (resource: StoredResource) => resource.id } as const;

/** Makes the list of the resources of one kind in a box, by id or creation. */
export function resourceListing(kind: Kind): Listing<StoredResource, ResourceFilters> {
  return listingOf<ResourceColumns, StoredResource, ResourceFilters>({
    columns: resourceColumns,
    rowOf: storedResource,
    orders: {
      id: [ownId],
      created_at: [{ column: 'r.created_at', type: 'timestamptz', keyOf: (resource) => resource.createdAt }, ownId],
    },
    from: 'boxgate.resource r',
    size: 'boxgate.bytes_of(r.body)',
    where: (conditions, box, { id, name, active, grantType, engine, subjects, link, createdAt }) => {
      const linked = link === undefined ? undefined : JSON.stringify([link]);
      conditions.compare(box, (place) => `r.box = ${place}`);
      conditions.compare(kind, (place) => `r.kind = ${place}`);
      conditions.compare(id, (place) => `r.id = ${place}`);
      conditions.compare(name, (place) => `r.body ->> 'name' = ${place}`);
      conditions.compare(active, (place) => `COALESCE((r.body ->> 'active')::boolean, true) = ${place}`);
      conditions.compare(grantType, (place) => `r.body -> 'grant_types' ? ${place}`);
      conditions.compare(engine, (place) => `r.body ->> 'engine' = ${place}`);
      conditions.compare(subjects, (place) => `COALESCE(r.body ->> 'subjects', 'linked') = ${place}`);
      conditions.compare(linked, (place) => `r.body -> 'link' @> ${place}::jsonb`);
      conditions.within('r.created_at', createdAt);
    },
  });
}
