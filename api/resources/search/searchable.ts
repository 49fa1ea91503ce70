import type { FirstPage, FirstPageOfBox, FirstPageResult } from '../../db/core/first-page.ts';
import type { Listing } from '../../db/core/listing.ts';
import { inBox } from '../../db/core/transaction.ts';
import { longestFirstPage } from '../../db/first-pages.ts';
import type { FirstPages } from '../../db/first-pages.ts';
import type { ResourceServices } from '../services.ts';
import type { SearchDefinition, SearchRequest } from './parameters.ts';
import { search } from './search.ts';
import type { SearchResult, SearchStatements } from './search.ts';

/** A kind of record that can be searched: the parameters of a search, and what finds its rows. */
export interface Searchable<Row, Filters> extends SearchDefinition<Filters> {
  /** Returns one page of the records of a box. Throws Problem `bad-request` for a page too far from the beginning. */
  readonly find: (
    services: Pick<ResourceServices, 'pool' | 'firstPages' | 'now'>,
    box: string,
    request: SearchRequest<Partial<Filters>>,
  ) => Promise<SearchResult<Row>>;
}

/** Reads the first page of the whole list by ID, together with others. */
type ReadFirst<Row> = (pages: FirstPages, search: FirstPageOfBox) => Promise<FirstPageResult<Row>>;

/** Makes the search of a list in the database, by the orders of the list. */
export function searchable<Row, Filters extends object>(
  listing: Listing<Row, Filters>,
  definition: Omit<SearchDefinition<Filters>, 'sorts'>,
  readFirst?: ReadFirst<Row>,
): Searchable<Row, Filters> {
  return {
    ...definition,
    sorts: listing.orders,
    find: async ({ pool, firstPages }, box, request) => {
      const { filters, sort, count: limit } = request;
      const order = listing.orders[sort.field];
      if (order === undefined) throw new TypeError(`a list without the order ${sort.field}`);
      const keyOf = (row: Row): readonly string[] => order.map((column) => column.keyOf(row));
      const first = isFirstOfAll(request) ? await readFirst?.(firstPages, { box, limit }) : undefined;
      if (first !== undefined && first !== 'large') return search(request, statementsOf(first, keyOf));
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

/** Returns the statements of a search whose page has been read. */
function statementsOf<Row>(page: FirstPage<Row>, keyOf: SearchStatements<Row>['keyOf']): SearchStatements<Row> {
  return { count: () => Promise.resolve(page.total), read: () => Promise.resolve(page), keyOf };
}

/** Checks whether a search is for the first page of all records by ID, and a short one. */
function isFirstOfAll({ filters, count, page, sort }: SearchRequest<object>): boolean {
  return page === undefined && sort.text === 'id' && count <= longestFirstPage && Object.keys(filters).length === 0;
}
