import { arrayLiteral, quoted } from './array-literal.ts';
import type { CountedDefinition, CountedRow, CountedSearch } from './counted-pages.ts';
import type { FixedText } from './statement.ts';

/** Search for the newest rows of a box, or for the newest before one of them. */
export interface NewestOfBox extends CountedSearch {
  /** A UUID; absent: from the newest row on. */
  readonly before: string | undefined;
}

/** A list whose newest rows are read together. */
export interface NewestDefinition<Search, Columns, Row> {
  /** Reads the rows of all pages from their boxes, the rows before them, the limits, and the limits of the counts. */
  readonly reading: FixedText;
  readonly rowOf: (columns: Columns, search: Search) => Row;
}

/** A UUID that no row has, after all of them. */
const afterAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns what reads the pages of a list whose newest rows come first. */
export function newestPages<Search extends NewestOfBox, Columns extends CountedRow, Row>({
  reading,
  rowOf,
}: NewestDefinition<Search, Columns, Row>): CountedDefinition<Search, Columns, Row> {
  return {
    read: (db, searches) =>
      db.rows<Columns>(reading, [
        arrayLiteral(searches, ({ box }) => quoted(box)),
        arrayLiteral(searches, ({ before = afterAll }) => before),
        arrayLiteral(searches, ({ limit }) => String(limit)),
        arrayLiteral(searches, ({ most }) => String(most)),
      ]),
    rowOf,
    isFirst: ({ before }) => before === undefined,
  };
}
