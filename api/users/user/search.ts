import { inBox } from '../../db/core/transaction.ts';
import { countUsers, searchUsers } from '../../db/user/user-search.ts';
import type { ListedUser, UserFilters } from '../../db/user/user-search.ts';
import { search } from '../../resources/search/search.ts';
import type { SearchResult } from '../../resources/search/search.ts';
import { readSearch } from '../../resources/search/parameters.ts';
import type { SearchDefinition } from '../../resources/search/parameters.ts';
import { readNumber, readWord } from '../../resources/search/values.ts';
import { emailKey, folded } from './email.ts';
import type { UserServices } from '../services.ts';
import { userElements } from './view.ts';

/** A key of the list is compared, never run. */
const sorts = { id: [/^\d{1,16}$/], email: [/^[^\0]{1,512}$/u] } as const;

const statuses = ['active', 'inactive'] as const;

/** Returns the parameters of a list of users; a search by the beginning of emails is in their order, others by id. */
export function userSearch(sort: 'id' | 'email'): SearchDefinition<UserFilters> {
  return {
    controls: ['_count', '_page', '_total'],
    elements: new Set(userElements),
    sorts: { [sort]: sorts[sort] },
    sort,
    filters: {
      email: (text) => ({ emailKey: emailKey(text) ?? '' }),
      q: (text) => ({ emailBeginning: folded(text) }),
      'group-id': (text, name) => ({ group: readNumber(name, text, 1, Number.MAX_SAFE_INTEGER) }),
      status: (text, name) => ({ status: readWord(name, text, statuses) }),
    },
    ranges: {},
  };
}

/** Returns a page of the users that a query finds. Throws Problem `bad-request`, and Outage. */
export function listUsers(
  { pool }: Pick<UserServices, 'pool'>,
  box: string,
  query: URLSearchParams,
): Promise<SearchResult<ListedUser>> {
  const sort = query.has('q') ? 'email' : 'id';
  const request = readSearch(query, userSearch(sort));
  const found = { box, filters: request.filters };
  return inBox(pool, box, 'snapshot', (connection) =>
    search(request, {
      count: (most) => countUsers(connection, found, most),
      read: (span) => searchUsers(connection, found, sort, span),
      keyOf: (user) => [sort === 'id' ? String(user.id) : user.emailKey],
    }),
  );
}
