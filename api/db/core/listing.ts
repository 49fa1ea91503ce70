import type pg from 'pg';
import { Conditions } from './conditions.ts';
import { countFound, firstBytesOf, foundCount } from './found-rows.ts';
import type { FoundCount } from './found-rows.ts';
import { keysetOf, pageOf, Parameters } from './keyset.ts';
import type { Page, SortColumn, Span } from './keyset.ts';
import type { Connection } from './transaction.ts';

/** Column that sorts a list; `keyOf` returns its text in a row, as a cursor has it. */
export interface ListedColumn<Row> extends SortColumn {
  readonly keyOf: (row: Row) => string;
}

/** Columns of each order of a list, by the order's name; together they are unique, and an index has them. */
export type Orders<Row> = Readonly<Record<string, readonly ListedColumn<Row>[]>>;

/** Definition of a list, as SQL: what is read, from where, and in which orders. */
export interface ListingDefinition<Columns extends pg.QueryResultRow, Row, Filters> {
  readonly columns: string;
  readonly rowOf: (columns: Columns) => Row;
  readonly orders: Orders<Row>;
  /** The tables after FROM. */
  readonly from: string;
  /** SQL for the bytes of a row. */
  readonly size: string;
  /** The rows of one box that pass the filters. */
  readonly where: (conditions: Conditions, box: string, filters: Partial<Filters>) => void;
}

/** Search in one list of a box. */
export interface ListSearch<Filters> {
  readonly box: string;
  readonly filters: Partial<Filters>;
}

/** A list of one kind of row, which searches read in spans. */
export interface Listing<Row, Filters> {
  readonly orders: Orders<Row>;
  /** Reads one span of the rows that a search finds. */
  readonly read: (
    connection: Connection,
    search: ListSearch<Filters>,
    order: readonly ListedColumn<Row>[],
    span: Span,
  ) => Promise<Page<Row>>;
  /** Counts the rows that a search finds, up to `most`. */
  readonly count: (connection: Connection, search: ListSearch<Filters>, most?: number) => Promise<number>;
}

/** Makes a list from its definition. A span ends early where its rows are large, after at least one row. */
export function listingOf<Columns extends pg.QueryResultRow, Row, Filters>(
  definition: ListingDefinition<Columns, Row, Filters>,
): Listing<Row, Filters> {
  const { columns, rowOf, orders, size } = definition;
  const sourceOf = ({ box, filters }: ListSearch<Filters>, parameters: Parameters): string => {
    const conditions = new Conditions(parameters);
    definition.where(conditions, box, filters);
    return `${definition.from} WHERE ${conditions.text}`;
  };
  return {
    orders,
    read: async (connection, search, sort, span) => {
      const parameters = new Parameters();
      const from = sourceOf(search, parameters);
      const { condition, order, limit } = keysetOf(sort, span, parameters);
      const found = `SELECT ${columns}, ${size} AS row_bytes FROM ${from} AND ${condition} ORDER BY ${order} ${limit}`;
      const text = firstBytesOf(found, parameters);
      const { rows } = await connection.query<Columns & FoundCount>(text, parameters.values);
      return pageOf(rows.map(rowOf), span, foundCount(rows));
    },
    count: (connection, search, most) => {
      const parameters = new Parameters();
      return countFound(connection, { from: sourceOf(search, parameters), parameters }, most);
    },
  };
}
