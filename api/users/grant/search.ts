import { RESOURCE_ID } from '../../../crds/fields.ts';
import { countGrants, searchGrants } from '../../db/user/grant.ts';
import type { GrantFilters, GrantSort, StoredGrant } from '../../db/user/grant.ts';
import { inBox } from '../../db/core/transaction.ts';
import { readDates } from '../../resources/search/dates.ts';
import { search } from '../../resources/search/search.ts';
import type { SearchResult } from '../../resources/search/search.ts';
import type { SearchDefinition, SearchRequest } from '../../resources/search/parameters.ts';
import { readNumber } from '../../resources/search/values.ts';
import type { ResourceServices } from '../../resources/services.ts';
import { grantElements } from './view.ts';

/** Sort keys in a cursor are compared, never run. */
const createdAt = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::?\d\d)?$/;
const own = [/^[1-9]\d{0,14}$/, new RegExp(RESOURCE_ID)] as const;

/** Search parameters for Grant. */
export const grantSearch: SearchDefinition<GrantFilters> = {
  elements: new Set(grantElements),
  sorts: { id: own, created_at: [createdAt, ...own] },
  sort: 'id',
  filters: {
    user: (text, name) => ({ user: readNumber(name, text.replace(/^User\//, ''), 1, Number.MAX_SAFE_INTEGER) }),
    client: (text) => ({ client: text.replace(/^Client\//, '') }),
  },
  ranges: { created_at: (texts, name) => ({ createdAt: readDates(name, texts) }) },
};

/** Searches among the grants of a box. Throws Problem `bad-request`, and Outage. */
export function searchStoredGrants(
  { pool }: Pick<ResourceServices, 'pool'>,
  box: string,
  request: SearchRequest<GrantFilters>,
): Promise<SearchResult<StoredGrant>> {
  const sort: GrantSort = request.sort.field === 'created_at' ? 'created_at' : 'id';
  const found = { box, filters: request.filters };
  return inBox(pool, box, 'snapshot', (connection) =>
    search(request, {
      count: (most) => countGrants(connection, found, most),
      read: (span) => searchGrants(connection, found, sort, span),
      keyOf: ({ user, client, createdAt: time }) => [...(sort === 'id' ? [] : [time]), String(user), client],
    }),
  );
}
