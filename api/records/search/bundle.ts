import type { SearchRequest } from './parameters.ts';
import type { SearchResult } from './search.ts';

/** A resource as it is shown. */
export type View = Readonly<Record<string, unknown>>;

/** The answer to a search without its entries: `entry`, a list of `{ resource }`, comes last. */
export interface BundleHead {
  readonly resourceType: 'Bundle';
  readonly type: 'searchset';
  readonly total?: number;
  readonly link: readonly Link[];
}

/** Link to a page of the same search. */
export interface Link {
  readonly relation: 'self' | 'first' | 'previous' | 'next' | 'last';
  readonly url: string;
}

/** Returns the links of a page; `address` is the search's own, without query, on the box's issuer. */
export function linksOf(address: string, query: URLSearchParams, result: SearchResult<unknown>): readonly Link[] {
  const pages: Readonly<Record<Link['relation'], string | undefined>> = {
    self: query.get('_page') ?? '',
    first: '',
    previous: result.previous,
    next: result.next,
    last: 'last',
  };
  const relations = ['self', 'first', 'previous', 'next', 'last'] as const;
  return relations.flatMap((relation) => {
    const page = pages[relation];
    return page === undefined ? [] : [{ relation, url: pageAddress(address, query, page) }];
  });
}

function pageAddress(address: string, query: URLSearchParams, page: string): string {
  const own = new URLSearchParams(query);
  own.delete('_page');
  if (page !== '') own.set('_page', page);
  return own.size === 0 ? address : `${address}?${own.toString()}`;
}

/** Returns the bundle of a page, without its entries. */
export function bundleHead(links: readonly Link[], total: number | undefined): BundleHead {
  return { resourceType: 'Bundle', type: 'searchset', ...(total === undefined ? {} : { total }), link: links };
}

/** Returns a view with the named fields only; its type and its id always stay. */
export function withElements(view: View, elements: SearchRequest<unknown>['elements']): View {
  if (elements === undefined) return view;
  const isKept = (name: string): boolean => name === 'resourceType' || name === 'id' || elements.has(name);
  return Object.fromEntries(Object.entries(view).filter(([name]) => isKept(name)));
}
