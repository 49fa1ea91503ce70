import { rowsOfItems } from './answers.ts';
import type { RowOfItem } from './answers.ts';
import { createListLengths } from './list-lengths.ts';
import { shortPageOf } from './page-statement.ts';
import type { ShortPage } from './page-statement.ts';
import type { Runner } from './statement-batches.ts';
import type { Statement, StatementConnection } from './statement.ts';

/** Search for a page of a list of a box. */
export interface CountedSearch {
  readonly box: string;
  /** Maximum number of rows. */
  readonly limit: number;
  /** True if the total is requested. */
  readonly isCounted: boolean;
}

/** A search, and the number of rows of its box that its statement counts at most. */
export type CountedUpTo<Search> = Search & { readonly most: number };

/** Reads a page together with those of other boxes; `large`: only a transaction can read it. Throws Outage. */
export type ReadCountedPage<Row, Search> = (search: Search) => Promise<ShortPage<Row>>;

/** A row of the statement. */
export interface CountedRow extends RowOfItem {
  /** True for the only row of a page that is left to a transaction. */
  readonly is_large: boolean;
  /** The rows of the box that were counted: one more than the limit of the count if there are more. */
  readonly total: string | null;
  /** The state of the list, in the first row of its page; null if the page was not read. */
  readonly state: string | null;
}

/** A list whose pages are read together, and whose rows are counted no more often than needed. */
export interface CountedDefinition<Search, Columns, Row> {
  /** Reads the rows of all pages, one more than `limit` of each if there are more. Throws Outage. */
  readonly read: (db: StatementConnection, searches: readonly CountedUpTo<Search>[]) => Promise<readonly Columns[]>;
  readonly rowOf: (columns: Columns, search: Search) => Row;
  /** Returns whether a page is the first one of its list. */
  readonly isFirst: (search: Search) => boolean;
}

/**
 * Rows that a statement of any boxes counts for a page: it holds up the others for a tenth of a millisecond, twice as
 * long for grants, some of which may be hidden.
 */
export const countedTogether = 1_000;

/** Limit up to which totals are told. */
const countedAtAll = 10_000;

/** Rows of a short page: half of the time of its statement does not depend on how many pages share it. */
const shortPage = 25;

/** Batches of pages. */
export interface CountedRunners {
  /** Batches of short pages, more of them in a statement than of others. */
  readonly short: Runner;
  readonly together: Runner;
  /** Batches in which boxes wait for one another's counts of thousands of rows: few boxes share a statement. */
  readonly counting: Runner;
}

/** Makes the reads of a list from its definition; `now` in milliseconds since 1970. */
export function countedPagesOf<Search extends CountedSearch, Columns extends CountedRow, Row>(
  runners: CountedRunners,
  now: () => number,
  { read, rowOf, isFirst }: CountedDefinition<Search, Columns, Row>,
): ReadCountedPage<Row, Search> {
  const lengths = createListLengths(now);
  const statement: Statement<CountedUpTo<Search>, readonly Columns[]> = {
    boxOf: ({ box }) => box,
    run: async (db, searches) => rowsOfItems(searches, await read(db, searches)),
  };
  const short = runners.short(statement);
  const long = runners.together(statement);
  const together = (search: CountedUpTo<Search>) => (search.limit <= shortPage ? short : long)(search);
  const counting = runners.counting(statement);
  const pageIn = (search: Search, rows: readonly Columns[], total: number | undefined): ShortPage<Row> =>
    shortPageOf(rows, {
      limit: search.limit,
      isFirst: isFirst(search),
      total,
      rowOf: (row) => rowOf(row, search),
    });
  return async (search) => {
    const { box } = search;
    if (!search.isCounted) return pageIn(search, await together({ ...search, most: 0 }), undefined);
    const length = lengths.of(box);
    if (length === undefined) {
      const rows = await together({ ...search, most: countedTogether });
      const [{ total, state, is_large } = { total: 0, state: null, is_large: false }] = rows;
      const counted = Number(total);
      const isLarge = is_large && state !== null;
      if (counted <= countedTogether || isLarge) return pageIn(search, rows, counted);
    } else if (length.is === 'long') {
      const rows = await together({ ...search, most: 0 });
      if (rows[0]?.state === length.state || rows[0]?.is_large === true) return pageIn(search, rows, undefined);
    }
    const rows = await counting({ ...search, most: countedAtAll });
    const { total, state } = rows[0] ?? { total: 0, state: null };
    const isLong = Number(total) > countedAtAll && state !== null;
    if (isLong) lengths.note(box, { is: 'long', state });
    else if (Number(total) > countedTogether) lengths.note(box, { is: 'medium' });
    return pageIn(search, rows, isLong ? undefined : Number(total));
  };
}
