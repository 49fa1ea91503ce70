import type { Page, Span } from '../../db/core/keyset.ts';
import { isCancelled } from '../../db/core/outage.ts';
import { Problem } from '../../problem.ts';
import { writeCursor } from './parameters.ts';
import type { SearchRequest, SearchDefinition } from './parameters.ts';
import type { Listing } from '../../db/core/listing.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { ResourceServices } from '../services.ts';
import type { Link } from '../../schemas/stored.ts';

/** The statements behind a search, run in one snapshot. */
export interface SearchStatements<Row> {
  /** Counts the rows that are found, up to `most`. */
  readonly count: (most: number | undefined) => Promise<number>;
  /** Reads a page. `total` is the result of `count`, if it is known and at most 10,000. */
  readonly read: (span: Span, total: number | undefined) => Promise<Page<Row>>;
  /** Returns the sort key of a row. */
  readonly keyOf: (row: Row) => readonly string[];
}

/** One page of the results of a search, and the values of `_page` for the pages around it. */
export interface SearchResult<Row> {
  readonly rows: readonly Row[];
  /** Undefined when it was not requested, or is an estimate beyond 10,000. */
  readonly total: number | undefined;
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

/** Limit up to which totals are exact, and pages can be requested by number. */
const countedExactly = 10_000;

/**
 * Runs a search. Throws Problem `bad-request` for a numbered page too far away, `unavailable` when the results cannot
 * be counted in time, and Outage.
 */
export async function search<Row>(
  request: SearchRequest<unknown>,
  statements: SearchStatements<Row>,
): Promise<SearchResult<Row>> {
  const total = await countFor(request, statements);
  const span = spanOf(request, total);
  const page = await statements.read(span, total !== undefined && total <= countedExactly ? total : undefined);
  return { rows: page.rows, total, ...marksAround(request, span, page, statements) };
}

async function countFor<Row>(
  { total }: SearchRequest<unknown>,
  { count }: SearchStatements<Row>,
): Promise<number | undefined> {
  if (total === 'none') return undefined;
  if (total === 'accurate') return countAll(count);
  const counted = await count(countedExactly + 1);
  return counted > countedExactly ? undefined : counted;
}

/** Counts all rows. A retry would take as long, so the error says which request would succeed. */
async function countAll(count: SearchStatements<unknown>['count']): Promise<number> {
  try {
    return await count(undefined);
  } catch (error) {
    if (!isCancelled(error)) throw error;
    const message = 'accurate takes longer here than a request may: narrow the search, or leave it out';
    throw new Problem('unavailable', [{ path: '_total', message }], { 'Retry-After': '60' });
  }
}

function spanOf({ page, count, sort }: SearchRequest<unknown>, total: number | undefined): Span {
  const span = { limit: count, offset: 0, descending: sort.descending, backward: false };
  switch (page?.at) {
    case undefined:
      return span;
    case 'after':
      return { ...span, from: page.key };
    case 'before':
      return { ...span, from: page.key, backward: true };
    case 'last':
      // The last numbered page holds the remaining rows.
      return { ...span, limit: total === undefined ? count : total % count || count, backward: true };
    case 'number':
      return { ...span, offset: offsetOf(page.number, count) };
  }
}

function offsetOf(number: number, count: number): number {
  const offset = (number - 1) * count;
  if (offset + count <= countedExactly) return offset;
  const message = `must lie within the first ${String(countedExactly)} results; further on follow the link next`;
  throw new Problem('bad-request', [{ path: '_page', message }]);
}

function marksAround<Row>(
  { sort }: SearchRequest<unknown>,
  span: Span,
  { rows, more }: Page<Row>,
  { keyOf }: SearchStatements<Row>,
): Pick<SearchResult<Row>, 'previous' | 'next'> {
  const [first, last] = [rows[0], rows.at(-1)];
  // Beyond the end, or before the beginning after rows were deleted: the way back is the end of the list.
  if (first === undefined || last === undefined) {
    return { previous: isBeginning(span) || span.backward ? undefined : 'last', next: undefined };
  }
  const before = span.backward ? more : !isBeginning(span);
  const after = span.backward ? span.from !== undefined : more;
  return {
    previous: before ? writeCursor('before', sort.text, keyOf(first)) : undefined,
    next: after ? writeCursor('after', sort.text, keyOf(last)) : undefined,
  };
}

function isBeginning({ from, offset }: Span): boolean {
  return from === undefined && offset === 0;
}

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

/** A resource as it is shown. */
export type View = Readonly<Record<string, unknown>>;

/** The answer to a search without its entries: `entry`, a list of `{ resource }`, comes last. */
interface BundleHead {
  readonly resourceType: 'Bundle';
  readonly type: 'searchset';
  readonly total?: number;
  readonly link: readonly Link[];
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
