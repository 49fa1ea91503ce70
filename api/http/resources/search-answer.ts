import { bundleHead, linksOf } from '../../resources/search/bundle.ts';
import type { Link, View } from '../../resources/search/bundle.ts';
import type { SearchRequest } from '../../resources/search/parameters.ts';
import type { SearchResult } from '../../resources/search/search.ts';
import type { ResourceAnswer } from './resource-exchange.ts';

/** Address of a search, without its query, and the query. */
export interface SearchAddress {
  readonly address: string;
  readonly query: URLSearchParams;
}

/**
 * Returns the answer to a search: a Bundle, or the resources alone, with the links (RFC 8288) and the total in headers.
 * `show` is called for each row when it is written.
 */
export function searchAnswer<Row>(
  { address, query }: SearchAddress,
  request: SearchRequest<unknown>,
  result: SearchResult<Row>,
  show: (row: Row) => View,
): ResourceAnswer {
  const links = linksOf(address, query, result);
  const { rows, total } = result;
  if (request.result === 'bundle') {
    const items = shown(rows, (row) => ({ resource: show(row) }));
    return { status: 200, page: { bundle: bundleHead(links, total), items } };
  }
  return { status: 200, headers: listHeaders(links, total), page: { bundle: undefined, items: shown(rows, show) } };
}

function* shown<Row>(rows: readonly Row[], show: (row: Row) => object): Generator<object> {
  for (const row of rows) yield show(row);
}

function listHeaders(links: readonly Link[], total: number | undefined): Readonly<Record<string, string>> {
  const link = links.map(({ relation, url }) => `<${url}>; rel="${relation}"`).join(', ');
  return { Link: link, ...(total === undefined ? {} : { 'X-Total-Count': String(total) }) };
}
