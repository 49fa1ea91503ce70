import type pg from 'pg';
import { keysetOf, pageOf, Parameters, momentAt } from './keyset.ts';
import type { Page, SortColumn, Span, TimeRange } from './keyset.ts';
import type { Connection } from './transaction.ts';

/** The source of a search: the SQL after FROM, up to the end of its WHERE, with its values. */
interface Source {
  readonly from: string;
  readonly parameters: Parameters;
}

/** Bytes of one page: a page of larger rows ends early, and the next one continues from there. */
const PAGE_BYTES = 1_048_576;

/** Column that {@link firstBytesOf} adds to each row. */
export interface FoundCount {
  readonly rows_found: string;
}

/**
 * Returns SQL for the first rows of an ordered statement, up to {@link PAGE_BYTES} by its column `row_bytes`, after one
 * row at least. The column `rows_found` contains the number of rows that the statement found.
 */
export function firstBytesOf(found: string, parameters: Parameters): string {
  return `SELECT * FROM (
       SELECT f.*, sum(f.row_bytes) OVER (ROWS UNBOUNDED PRECEDING) - f.row_bytes AS bytes_before,
              count(*) OVER () AS rows_found
         FROM (${found}) AS f) AS p
      WHERE p.bytes_before < ${parameters.add(PAGE_BYTES)}`;
}

/** Returns the number of rows that a statement of {@link firstBytesOf} found, even if it returned fewer. */
export function foundCount(rows: readonly FoundCount[]): number {
  return Number(rows[0]?.rows_found ?? 0);
}

/** Counts the rows that a search finds, up to `most`. */
export async function countFound(connection: Connection, { from, parameters }: Source, most?: number): Promise<number> {
  const { rows } = await connection.query<{ count: string }>(
    `SELECT count(*) FROM (SELECT FROM ${from} LIMIT ${parameters.add(most ?? null)}) AS found`,
    parameters.values,
  );
  return Number(rows[0]?.count);
}

/** Collects the conditions of a WHERE with their values; a comparison with an absent value is no condition. */
export class Conditions {
  readonly #parameters: Parameters;
  readonly #texts: string[] = [];

  constructor(parameters: Parameters) {
    this.#parameters = parameters;
  }

  /** Adds a condition as SQL. */
  add(text: string): void {
    this.#texts.push(text);
  }

  /** Adds a condition on a value, unless the value is undefined; `condition` receives its placeholder. */
  compare(value: unknown, condition: (place: string) => string): void {
    if (value !== undefined) this.#texts.push(condition(this.#parameters.add(value)));
  }

  /** Demands that the moment in a column lies within a range. */
  within(column: string, range: TimeRange | undefined): void {
    this.compare(range?.from, (place) => `${column} >= ${momentAt(place)}`);
    this.compare(range?.to, (place) => `${column} < ${momentAt(place)}`);
  }

  /** All conditions as one. */
  get text(): string {
    return this.#texts.join(' AND ');
  }
}

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
