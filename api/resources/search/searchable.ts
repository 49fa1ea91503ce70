import type { FirstPageOfBox, FirstPageResult } from '../../db/core/first-page.ts';
import type { Listing } from '../../db/core/listing.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { FirstPages } from '../../db/first-pages.ts';
import type { ResourceServices } from '../services.ts';
import type { SearchDefinition, SearchRequest } from './parameters.ts';
import { search } from './search.ts';
import type { SearchResult } from './search.ts';
import { pageOfWholeList, statementsOf } from './whole-list.ts';

/** A kind of record that can be searched: the parameters of a search, and what finds its rows. */
export interface Searchable<Row, Filters> extends SearchDefinition<Filters> {
  /** Returns one page of the records of a box. Throws Problem `bad-request` for a page too far from the beginning. */
  readonly find: (
    services: Pick<ResourceServices, 'pool' | 'firstPages' | 'now'>,
    box: string,
    request: SearchRequest<Partial<Filters>>,
  ) => Promise<SearchResult<Row>>;
}

/** Search for a page of a whole list by ID; `after`: the sort key of the row before it, absent for the first page. */
interface SharedSearch extends FirstPageOfBox {
  readonly after: readonly string[] | undefined;
}

/** Reads a page of the whole list by ID, together with others; undefined if such a page is not read so. */
type ReadShared<Row> = (pages: FirstPages, search: SharedSearch) => Promise<FirstPageResult<Row>> | undefined;

/** Makes the search of a list in the database, by the orders of the list. */
export function searchable<Row, Filters extends object>(
  listing: Listing<Row, Filters>,
  definition: Omit<SearchDefinition<Filters>, 'sorts'>,
  readShared?: ReadShared<Row>,
): Searchable<Row, Filters> {
  return {
    ...definition,
    sorts: listing.orders,
    find: async ({ pool, firstPages }, box, request) => {
      const { filters, sort, count: limit } = request;
      const order = listing.orders[sort.field];
      if (order === undefined) throw new TypeError(`a list without the order ${sort.field}`);
      const keyOf = (row: Row): readonly string[] => order.map((column) => column.keyOf(row));
      const place = sort.text === 'id' ? pageOfWholeList(request) : undefined;
      const page = place && (await readShared?.(firstPages, { box, limit, ...place }));
      if (page !== undefined && page !== 'large') return search(request, statementsOf(page, keyOf));
      return inBox(pool, box, 'snapshot', (connection) =>
        search(request, {
          count: (most) => listing.count(connection, { box, filters }, most),
          read: (span) => listing.read(connection, { box, filters }, order, span),
          keyOf,
        }),
      );
    },
  };
}
