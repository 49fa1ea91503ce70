import { bundleOf, linksOf, withElements } from '../../resources/search/bundle.ts';
import type { Link, View } from '../../resources/search/bundle.ts';
import type { SearchRequest } from '../../resources/search/parameters.ts';
import type { SearchResult } from '../../resources/search/search.ts';
import type { ResourceAnswer, ResourceExchange, ResourceKind } from './resource-exchange.ts';

/** A kind of resource that is searched, and the function that shows one. */
export interface ShownKind<Row> {
  readonly kind: ResourceKind;
  readonly viewOf: (row: Row) => View;
}

/** Returns the answer to a search: a Bundle, or the resources alone with the links in a header (RFC 8288). */
export function searchAnswer<Row>(
  { baseUrl, query }: ResourceExchange,
  { kind, viewOf }: ShownKind<Row>,
  request: SearchRequest<unknown>,
  result: SearchResult<Row>,
): ResourceAnswer {
  const views = result.rows.map((row) => withElements(viewOf(row), request.elements));
  const address = `${baseUrl}/${kind}`;
  if (request.result === 'array') return listAnswer(address, query, result, views);
  return { status: 200, body: bundleOf(views, linksOf(address, query, result), result.total) };
}

/** Returns a page of a search at an address as a plain list, its links and total in headers. */
export function listAnswer(
  address: string,
  query: URLSearchParams,
  result: SearchResult<unknown>,
  views: readonly View[],
): ResourceAnswer {
  return { status: 200, headers: listHeaders(linksOf(address, query, result), result.total), body: views };
}

function listHeaders(links: readonly Link[], total: number | undefined): Readonly<Record<string, string>> {
  const link = links.map(({ relation, url }) => `<${url}>; rel="${relation}"`).join(', ');
  return { Link: link, ...(total === undefined ? {} : { 'X-Total-Count': String(total) }) };
}
