import type { Page, Span } from '../../db/core/keyset.ts';
import { isCancelled } from '../../db/core/outage.ts';
import { Problem } from '../../problem.ts';
import { writeCursor } from './cursor.ts';
import type { SearchRequest } from './parameters.ts';

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
