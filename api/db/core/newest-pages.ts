import type { RowOfItem } from './answers.ts';
import { pageOf } from './keyset.ts';
import type { Page } from './keyset.ts';
import { createLongLists } from './long-lists.ts';
import type { Runner } from './statement-batches.ts';
import type { StatementConnection } from './statement.ts';

/** Search for the newest rows of a box; `limit`: maximum number of rows. */
export interface NewestOfBox {
  readonly box: string;
  readonly limit: number;
  /** True if the total is requested. */
  readonly isCounted: boolean;
}

/** The newest rows of a box; `total` is absent if it was not requested, or is more than 10,000. */
export interface NewestPage<Row> extends Page<Row> {
  readonly total: number | undefined;
}

/** Result of a shared read. */
export interface NewestResult<Row> {
  /** Undefined: only a transaction can read the page, since it would hold up others. */
  readonly page: NewestPage<Row> | undefined;
  /** Everything that rows of the list can disappear with; undefined if the statement does not tell. */
  readonly state: string | undefined;
}

/** First pages of a list of which no row has the total. */
export interface NewestPages<Row, Search extends NewestOfBox = NewestOfBox> {
  /** Reads a page together with those of other boxes. Throws Outage. */
  readonly read: (search: Search) => Promise<NewestResult<Row>>;
  /** Notes that a transaction has counted more than 10,000 rows of the list after it was in this state. */
  readonly noteLong: (box: string, state: string) => void;
}

/** An item of the statement; `most`: rows that are counted, 0 for none. */
export type CountedSearch<Search> = Search & { readonly most: number };

/** A row of the statement. */
export interface NewestRow extends RowOfItem {
  /** True for the only row of a page that is left to a transaction. */
  readonly is_large: boolean;
  /** The rows that were counted: one more than `most` if there are more. */
  readonly total: string | null;
  /** The state of the list, in the first row of its page. */
  readonly state: string | null;
}

/** Parts of a list whose newest rows are read together. */
export interface NewestDefinition<Search, Columns, Row> {
  /** Reads the rows of all pages, one more than `limit` of each if there are more. Throws Outage. */
  readonly read: (db: StatementConnection, searches: readonly CountedSearch<Search>[]) => Promise<readonly Columns[]>;
  readonly rowOf: (columns: Columns, search: Search) => Row;
}

/** Rows that a shared statement counts: it holds up the other boxes for a tenth of a millisecond. */
export const countedTogether = 1_000;

/** Makes the first pages of a list from its definition; `now` in milliseconds since 1970. */
export function createNewestPages<Search extends NewestOfBox, Columns extends NewestRow, Row>(
  runner: Runner,
  now: () => number,
  { read, rowOf }: NewestDefinition<Search, Columns, Row>,
): NewestPages<Row, Search> {
  const longLists = createLongLists(now);
  const readRows = runner<CountedSearch<Search>, readonly Columns[]>({
    boxOf: ({ box }) => box,
    run: async (db, searches) => {
      const rows = Map.groupBy(await read(db, searches), ({ nth }) => Number(nth));
      return searches.map((_, index) => rows.get(index + 1) ?? []);
    },
  });
  return {
    noteLong: longLists.note,
    async read(search) {
      const longIn = longLists.stateOf(search.box);
      const most = search.isCounted && longIn === undefined ? countedTogether : 0;
      const rows = await readRows({ ...search, most });
      const state = rows[0]?.state ?? undefined;
      const counted = Number(rows[0]?.total ?? 0);
      const isKnown = !search.isCounted || (longIn === undefined ? counted <= most : longIn === state);
      if (rows[0]?.is_large === true || !isKnown) return { page: undefined, state };
      const span = { limit: search.limit, offset: 0, descending: true, backward: false };
      const page = pageOf(
        rows.map((row) => rowOf(row, search)),
        span,
      );
      return { page: { ...page, total: most === 0 ? undefined : counted }, state };
    },
  };
}
