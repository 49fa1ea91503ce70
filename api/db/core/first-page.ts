import type { RowOfItem } from './answers.ts';
import { pageOf } from './keyset.ts';
import type { Page } from './keyset.ts';
import type { Statement, StatementConnection } from './statement.ts';

/** Search for the first page of a list without a filter; `limit`: maximum number of rows. */
export interface FirstPageOfBox {
  readonly box: string;
  readonly limit: number;
}

/** The first page of a list, and the number of its rows in all. */
export interface FirstPage<Row> extends Page<Row> {
  readonly total: number;
}

/** Result of a shared read; `large`: only a transaction can read the page, since it would hold up others. */
export type FirstPageResult<Row> = FirstPage<Row> | 'large';

/** A row of a statement for many pages. */
export interface FirstPageRow extends RowOfItem {
  /** True for the only row of a page that is too large to be read with others. */
  readonly is_large: boolean;
  readonly total: string;
}

/** Parts of a statement that reads first pages. */
export interface FirstPageDefinition<Search, Columns, Row> {
  /** Reads the rows of all pages, one more than `limit` of each if there are more. Throws Outage. */
  readonly read: (db: StatementConnection, searches: readonly Search[]) => Promise<readonly Columns[]>;
  readonly rowOf: (columns: Columns) => Row;
}

/** Makes the statement that reads many first pages. */
export function firstPageStatement<Search extends FirstPageOfBox, Columns extends FirstPageRow, Row>({
  read,
  rowOf,
}: FirstPageDefinition<Search, Columns, Row>): Statement<Search, FirstPageResult<Row>> {
  return {
    boxOf: ({ box }) => box,
    run: async (db, searches) => {
      const rows = Map.groupBy(await read(db, searches), ({ nth }) => Number(nth));
      return searches.map(({ limit }, index) => {
        const found = rows.get(index + 1) ?? [];
        if (found[0]?.is_large === true) return 'large';
        const span = { limit, offset: 0, descending: false, backward: false };
        return { ...pageOf(found.map(rowOf), span), total: Number(found[0]?.total ?? 0) };
      });
    },
  };
}
