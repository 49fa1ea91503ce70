import type { RowOfItem } from './answers.ts';
import { arrayLiteral, quoted } from './array-literal.ts';
import { pageOf } from './keyset.ts';
import type { Page } from './keyset.ts';
import { createLongLists } from './long-lists.ts';
import type { Runner } from './statement-batches.ts';
import type { FixedText } from './statement.ts';

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

/** Result of a shared read. */
export interface NewestResult<Row> {
  /** Undefined: only a transaction can read the page, since it would hold up others. */
  readonly page: NewestPage<Row> | undefined;
  /** Everything that rows of the list can disappear with; undefined if the statement does not tell. */
  readonly state: string | undefined;
}

/** Pages of a list of which no row has the total, newest first. */
export interface NewestPages<Row, Search extends NewestOfBox = NewestOfBox> {
  /** Reads a page together with those of other boxes. Throws Outage. */
  readonly read: (search: Search) => Promise<NewestResult<Row>>;
  /** Notes that a transaction has counted more than 10,000 rows of the list after it was in this state. */
  readonly noteLong: (box: string, state: string) => void;
}

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

/** Rows that a shared statement counts for a page: it holds up the other boxes for a tenth of a millisecond. */
export const countedTogether = 1_000;

/** A UUID that no row has, after all of them. */
const afterAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Makes the pages of a list from its definition; `now` in milliseconds since 1970. */
export function createNewestPages<Search extends NewestOfBox, Columns extends NewestRow, Row>(
  runner: Runner,
  now: () => number,
  { reading, rowOf }: NewestDefinition<Search, Columns, Row>,
): NewestPages<Row, Search> {
  const longLists = createLongLists(now);
  const readRows = runner<Search & { readonly most: number }, readonly Columns[]>({
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
  });
  return {
    noteLong: longLists.note,
    async read(search) {
      const longIn = longLists.stateOf(search.box);
      const most = search.isCounted && longIn === undefined ? countedTogether : 0;
      const rows = await readRows({ ...search, most });
      const [first] = rows;
      const state = first?.state ?? undefined;
      const counted = Number(first?.total ?? 0);
      const isKnown = !search.isCounted || (longIn === undefined ? counted <= most : longIn === state);
      // A page beyond the oldest row has no row to tell the total.
      const isBeyond = first === undefined && search.before !== undefined;
      if (first?.is_large === true || !isKnown || isBeyond) return { page: undefined, state };
      const span = { limit: search.limit, offset: 0, descending: true, backward: false };
      const page = pageOf(
        rows.map((row) => rowOf(row, search)),
        span,
      );
      return { page: { ...page, total: most === 0 ? undefined : counted }, state };
    },
  };
}
