import type { StoredGroup } from '../../db/user/group.ts';
import { countGroups, searchGroups } from '../../db/user/group-search.ts';
import type { GroupFilters, GroupSort } from '../../db/user/group-search.ts';
import { inBox } from '../../db/core/transaction.ts';
import { readDates } from '../../resources/search/dates.ts';
import { search } from '../../resources/search/search.ts';
import type { SearchResult } from '../../resources/search/search.ts';
import type { SearchDefinition, SearchRequest } from '../../resources/search/parameters.ts';
import { readNumber } from '../../resources/search/values.ts';
import type { ResourceServices } from '../../resources/services.ts';
import { groupElements } from './view.ts';

/** A group's id. */
export const groupId = /^[1-9]\d{0,14}$/;

/** Sort keys in a cursor are compared, never run. */
const createdAt = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::?\d\d)?$/;
const name = /^[^\0]{1,256}$/u;

/** Search parameters for Group. */
export const groupSearch: SearchDefinition<GroupFilters> = {
  elements: new Set(groupElements),
  sorts: { id: [groupId], name: [name], created_at: [createdAt, groupId] },
  sort: 'id',
  filters: {
    id: (text, parameter) => ({ id: readNumber(parameter, text, 1, Number.MAX_SAFE_INTEGER) }),
    name: (text) => ({ name: text }),
  },
  ranges: { created_at: (texts, parameter) => ({ createdAt: readDates(parameter, texts) }) },
};

/** Searches among the groups of a box. Throws Problem `bad-request`, and Outage. */
export function searchStoredGroups(
  { pool }: Pick<ResourceServices, 'pool'>,
  box: string,
  request: SearchRequest<GroupFilters>,
): Promise<SearchResult<StoredGroup>> {
  const sort = sortOf(request.sort.field);
  const found = { box, filters: request.filters };
  return inBox(pool, box, 'snapshot', (connection) =>
    search(request, {
      count: (most) => countGroups(connection, found, most),
      read: (span) => searchGroups(connection, found, sort, span),
      keyOf: (group) => keyOf(group, sort),
    }),
  );
}

function sortOf(field: string): GroupSort {
  return field === 'name' || field === 'created_at' ? field : 'id';
}

function keyOf(group: StoredGroup, sort: GroupSort): readonly string[] {
  if (sort === 'name') return [group.name];
  return sort === 'id' ? [String(group.id)] : [group.createdAt, String(group.id)];
}
