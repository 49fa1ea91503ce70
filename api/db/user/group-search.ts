import { listingOf } from '../core/listing.ts';
import { groupColumns, storedGroup } from './group.ts';
import type { GroupColumns, StoredGroup } from './group.ts';
import type { TimeRange } from '../core/keyset.ts';

/** Filters of a search for groups. */
export interface GroupFilters {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
}

const id = { column: 'g.id', type: 'bigint', keyOf: (group: StoredGroup) => String(group.id) } as const;

/** The groups of a box, by id, name or creation. */
export const groupListing = listingOf<GroupColumns, StoredGroup, GroupFilters>({
  columns: groupColumns,
  rowOf: storedGroup,
  orders: {
    id: [id],
    name: [{ column: 'g.name', type: 'text', keyOf: (group) => group.name }],
    created_at: [{ column: 'g.created_at', type: 'timestamptz', keyOf: (group) => group.createdAt }, id],
  },
  from: 'boxgate.group g',
  size: 'octet_length(concat(g.name, g.description))',
  where: (conditions, box, filters) => {
    conditions.compare(box, (place) => `g.box = ${place}`);
    conditions.compare(filters.id, (place) => `g.id = ${place}`);
    conditions.compare(filters.name, (place) => `g.name = ${place}`);
    conditions.within('g.created_at', filters.createdAt);
  },
});
