import { rowsOfItems } from './answers.ts';
import type { RowOfItem } from './answers.ts';
import { pageOf } from './keyset.ts';
import type { Page } from './keyset.ts';
import type { Statement, StatementConnection } from './statement.ts';

/** Search for a page of a list without a filter. */
export interface PageOfBox {
  readonly box: string;
  /** The sort key of the row before it; absent for the first page. */
  readonly after: readonly string[] | undefined;
  /** Maximum number of rows. */
  readonly limit: number;
}

/** A page of a list, and the number of its rows in all: absent if it was not requested, or is more than 10,000. */
export interface CountedPage<Row> extends Page<Row> {
  readonly total: number | undefined;
}

/** Result of a shared read; `large`: only a transaction can read the page, since it would hold up others. */
export type ShortPage<Row> = CountedPage<Row> | 'large';

/** A row of a statement for many pages. */
export interface PageRow extends RowOfItem {
  /** True for the only row of a page that is too large to be read with others. */
  readonly is_large: boolean;
  readonly total: string;
}

/** Parts of a statement that reads pages. */
export interface PageDefinition<Search, Columns, Row> {
  /** Reads the rows of all pages, one more than `limit` of each if there are more. Throws Outage. */
  readonly read: (db: StatementConnection, searches: readonly Search[]) => Promise<readonly Columns[]>;
  readonly rowOf: (columns: Columns) => Row;
}

/**
 * Makes the statement that reads many pages. One beyond the last row is left to a transaction: no row tells the total.
 */
export function pageStatement<Search extends PageOfBox, Columns extends PageRow, Row>({
  read,
  rowOf,
}: PageDefinition<Search, Columns, Row>): Statement<Search, ShortPage<Row>> {
  return {
    boxOf: ({ box }) => box,
    run: async (db, searches) => {
      const pages = rowsOfItems(searches, await read(db, searches));
      return searches.map(({ limit, after }, index) => {
        const found = pages[index] ?? [];
        return shortPageOf(found, { limit, isFirst: after === undefined, total: Number(found[0]?.total ?? 0), rowOf });
      });
    },
  };
}

/** Parts of a page beside its rows; `isFirst`: true for the first page of its list. */
export interface PageParts<Columns, Row> {
  readonly limit: number;
  readonly isFirst: boolean;
  readonly total: number | undefined;
  readonly rowOf: (columns: Columns) => Row;
}

/** Returns the page of the rows that a statement found for it. Beyond the last row, no row tells the total. */
export function shortPageOf<Columns extends Pick<PageRow, 'is_large'>, Row>(
  found: readonly Columns[],
  { limit, isFirst, total, rowOf }: PageParts<Columns, Row>,
): ShortPage<Row> {
  if (found[0]?.is_large === true || (found.length === 0 && !isFirst)) return 'large';
  const span = { limit, offset: 0, descending: false, backward: false };
  return { ...pageOf(found.map(rowOf), span), total };
}
