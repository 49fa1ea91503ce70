import { bundleOf, linksOf } from '../../resources/search/bundle.ts';
import type { Link, View } from '../../resources/search/bundle.ts';
import type { SearchRequest } from '../../resources/search/parameters.ts';
import type { SearchResult } from '../../resources/search/search.ts';
import type { ResourceAnswer } from './resource-exchange.ts';

/**
 * Returns the answer to a search at an address: a Bundle, or the resources alone, with the links (RFC 8288) and the
 * total in headers.
 */
export function searchAnswer(
  address: string,
  query: URLSearchParams,
  request: SearchRequest<unknown>,
  result: SearchResult<View>,
): ResourceAnswer {
  const { rows, total } = result;
  const links = linksOf(address, query, result);
  if (request.result === 'bundle') return { status: 200, body: bundleOf(rows, links, total) };
  return { status: 200, headers: listHeaders(links, total), body: rows };
}

function listHeaders(links: readonly Link[], total: number | undefined): Readonly<Record<string, string>> {
  const link = links.map(({ relation, url }) => `<${url}>; rel="${relation}"`).join(', ');
  return { Link: link, ...(total === undefined ? {} : { 'X-Total-Count': String(total) }) };
}
