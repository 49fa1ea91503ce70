import type { ReadCountedPage } from '../../db/core/counted-pages.ts';
import type { NewestOfBox } from '../../db/core/newest-pages.ts';
import type { SearchRequest } from './parameters.ts';
import { search } from './search.ts';
import type { SearchResult } from './search.ts';
import { pageOfWholeList, statementsOf } from './whole-list.ts';

/** A list whose newest rows are read together with those of other boxes. */
export interface NewestList<Row, Search extends NewestOfBox> {
  readonly read: ReadCountedPage<Row, Search>;
  /** Makes the search for a page. */
  readonly searchOf: (newest: NewestOfBox) => Search;
  /** Returns the sort key of a row. */
  readonly keyOf: (row: Row) => readonly string[];
  /** Runs any search in a transaction of the box. */
  readonly searchAlone: () => Promise<SearchResult<Row>>;
}

/**
 * Runs a search: a short page of the whole list, newest first, together with others; anything else in a transaction.
 * Throws as `search` does.
 */
export async function searchNewest<Row, Search extends NewestOfBox>(
  box: string,
  request: SearchRequest<object>,
  { read, searchOf, keyOf, searchAlone }: NewestList<Row, Search>,
): Promise<SearchResult<Row>> {
  const { sort, total, count: limit } = request;
  // Both sort keys of these lists are the ID, which begins with the time.
  const place = sort.descending && total !== 'accurate' ? pageOfWholeList(request) : undefined;
  if (place === undefined) return searchAlone();
  const newest = { box, before: place.after?.[0], limit, isCounted: total === 'estimate' };
  const page = await read(searchOf(newest));
  return page === 'large' ? searchAlone() : search(request, statementsOf(page, keyOf));
}
