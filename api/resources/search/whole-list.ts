import type { Page } from '../../db/core/keyset.ts';
import { longestFirstPage } from '../../db/first-pages.ts';
import type { SearchRequest } from './parameters.ts';
import type { SearchStatements } from './search.ts';

/** Checks whether a search is for the first page of all records, and a short one. */
export function isFirstOfAll({ filters, count, page }: SearchRequest<object>): boolean {
  return page === undefined && count <= longestFirstPage && Object.keys(filters).length === 0;
}

/** Returns the statements of a search whose page has been read; `total`: undefined if it is more than is counted. */
export function statementsOf<Row>(
  page: Page<Row> & { readonly total: number | undefined },
  keyOf: SearchStatements<Row>['keyOf'],
): SearchStatements<Row> {
  return { count: () => Promise.resolve(page.total ?? Infinity), read: () => Promise.resolve(page), keyOf };
}
