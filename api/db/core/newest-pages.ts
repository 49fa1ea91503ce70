import type { RowOfItem } from './answers.ts';
import { arrayLiteral, quoted } from './array-literal.ts';
import { pageOf } from './keyset.ts';
import type { Page } from './keyset.ts';
import { createListLengths } from './list-lengths.ts';
import type { Runner } from './statement-batches.ts';
import type { FixedText, Statement } from './statement.ts';

/** Search for the newest rows of a box, or for the newest before one of them; `limit`: maximum number of rows. */
export interface NewestOfBox {
  readonly box: string;
  /** A UUID; absent: from the newest row on. */
  readonly before: string | undefined;
  readonly limit: number;
  /** True if the total is requested. */
  readonly isCounted: boolean;
}

/** A page of the rows of a box; `total` is absent if it was not requested, or is more than 10,000. */
export interface NewestPage<Row> extends Page<Row> {
  readonly total: number | undefined;
}

/** Reads a page together with those of other boxes; `large`: only a transaction can read it. Throws Outage. */
export type ReadNewestPage<Row, Search extends NewestOfBox = NewestOfBox> = (
  search: Search,
) => Promise<NewestPage<Row> | 'large'>;

/** A row of the statement. */
export interface NewestRow extends RowOfItem {
  /** True for the only row of a page that is left to a transaction. */
  readonly is_large: boolean;
  /** The rows of the box that were counted: one more than the limit of the count if there are more. */
  readonly total: string | null;
  /** The state of the list, in the first row of its page. */
  readonly state: string | null;
}

/** A list whose newest rows are read together. */
export interface NewestDefinition<Search, Columns, Row> {
  /** Reads the rows of all pages from their boxes, the rows before them, the limits, and the limits of the counts. */
  readonly reading: FixedText;
  readonly rowOf: (columns: Columns, search: Search) => Row;
}

/** Rows that a statement of any boxes counts for a page: it holds up the others for a tenth of a millisecond. */
export const countedTogether = 1_000;

/** Limit up to which totals are told. */
const countedAtAll = 10_000;

/** A UUID that no row has, after all of them. */
const afterAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Rows of a short page: half of the time of its statement does not depend on how many pages share it. */
const shortPage = 25;

/** Batches of pages. */
export interface NewestRunners {
  /** Batches of short pages, more of them in a statement than of others. */
  readonly short: Runner;
  readonly together: Runner;
  /** Batches in which boxes wait for one another's counts of thousands of rows: few boxes share a statement. */
  readonly counting: Runner;
}

/** Makes the reads of a list from its definition; `now` in milliseconds since 1970. */
export function newestPagesOf<Search extends NewestOfBox, Columns extends NewestRow, Row>(
  runners: NewestRunners,
  now: () => number,
  { reading, rowOf }: NewestDefinition<Search, Columns, Row>,
): ReadNewestPage<Row, Search> {
  const lengths = createListLengths(now);
  const statement: Statement<Search & { readonly most: number }, readonly Columns[]> = {
    boxOf: ({ box }) => box,
    run: async (db, searches) => {
      const found = await db.rows<Columns>(reading, [
        arrayLiteral(searches, ({ box }) => quoted(box)),
        arrayLiteral(searches, ({ before = afterAll }) => before),
        arrayLiteral(searches, ({ limit }) => String(limit)),
        arrayLiteral(searches, ({ most }) => String(most)),
      ]);
      const rows = Map.groupBy(found, ({ nth }) => Number(nth));
      return searches.map((_, index) => rows.get(index + 1) ?? []);
    },
  };
  const short = runners.short(statement);
  const long = runners.together(statement);
  const together = (search: Search & { readonly most: number }) => (search.limit <= shortPage ? short : long)(search);
  const counting = runners.counting(statement);
  const pageIn = (search: Search, rows: readonly Columns[], total: number | undefined): NewestPage<Row> | 'large' => {
    const [first] = rows;
    // A page beyond the oldest row has no row to tell the total.
    if (first?.is_large === true || (first === undefined && search.before !== undefined)) return 'large';
    const span = { limit: search.limit, offset: 0, descending: true, backward: false };
    const page = pageOf(
      rows.map((row) => rowOf(row, search)),
      span,
    );
    return { ...page, total };
  };
  return async (search) => {
    const { box } = search;
    if (!search.isCounted) return pageIn(search, await together({ ...search, most: 0 }), undefined);
    const length = lengths.of(box);
    if (length === undefined) {
      const rows = await together({ ...search, most: countedTogether });
      const counted = Number(rows[0]?.total ?? 0);
      if (counted <= countedTogether || rows[0]?.is_large === true) return pageIn(search, rows, counted);
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
