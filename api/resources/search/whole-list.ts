import type { Page } from '../../db/core/keyset.ts';
import { longestShortPage } from '../../db/short-pages.ts';
import type { SearchRequest } from './parameters.ts';
import type { SearchStatements } from './search.ts';

/** The beginning of a page of the whole list: `after` the row with this sort key, or with the first one. */
export interface WholeListPage {
  readonly after: readonly string[] | undefined;
}

/** Returns where the page of a search begins; undefined unless it is a short one of all records, read forwards. */
export function pageOfWholeList({ filters, count, page }: SearchRequest<object>): WholeListPage | undefined {
  if (count > longestShortPage || Object.keys(filters).length > 0) return undefined;
  if (page === undefined) return { after: undefined };
  return page.at === 'after' ? { after: page.key } : undefined;
}

/** Returns the statements of a search whose page has been read; `total`: undefined if it is more than is counted. */
export function statementsOf<Row>(
  page: Page<Row> & { readonly total: number | undefined },
  keyOf: SearchStatements<Row>['keyOf'],
): SearchStatements<Row> {
  return { count: () => Promise.resolve(page.total ?? Infinity), read: () => Promise.resolve(page), keyOf };
}
