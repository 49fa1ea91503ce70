import type { Listing } from '../../db/core/listing.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { ResourceServices } from '../services.ts';
import type { SearchDefinition, SearchRequest } from './parameters.ts';
import { search } from './search.ts';
import type { SearchResult } from './search.ts';

/** A kind of record that can be searched: the parameters of a search, and what finds its rows. */
export interface Searchable<Row, Filters> extends SearchDefinition<Filters> {
  /** Returns one page of the records of a box. Throws Problem `bad-request` for a page too far from the beginning. */
  readonly find: (
    services: Pick<ResourceServices, 'pool' | 'now'>,
    box: string,
    request: SearchRequest<Partial<Filters>>,
  ) => Promise<SearchResult<Row>>;
}

/** Makes the search of a list in the database, by the orders of the list. */
export function searchable<Row, Filters extends object>(
  listing: Listing<Row, Filters>,
  definition: Omit<SearchDefinition<Filters>, 'sorts'>,
): Searchable<Row, Filters> {
  return {
    ...definition,
    sorts: listing.orders,
    find: async ({ pool }, box, request) => {
      const { filters, sort } = request;
      const order = listing.orders[sort.field];
      if (order === undefined) throw new TypeError(`a list without the order ${sort.field}`);
      const keyOf = (row: Row): readonly string[] => order.map((column) => column.keyOf(row));
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
