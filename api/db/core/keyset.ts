/** Collects the values of a statement and returns their placeholders, so that no value is ever part of the text. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value; returns its placeholder: `$3`. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${String(this.values.length)}`;
  }
}

/** One column of a sort order, as written in SQL, and the type that its text in a cursor is cast to. */
export interface SortColumn {
  readonly column: string;
  readonly type: 'bigint' | 'text' | 'timestamptz' | 'uuid';
}

/** A range of rows of an ordered list: after a row's sort key, before it, or from one end. */
export interface Span {
  /** Maximum number of rows. */
  readonly limit: number;
  /** Rows to skip: the cost is reading them, so keep it small. */
  readonly offset: number;
  readonly descending: boolean;
  /** True to read from the end of the list towards its beginning. */
  readonly backward: boolean;
  /** The sort key of the row next to the requested ones; absent: from the end of the list. */
  readonly from?: readonly string[] | undefined;
}

/** The rows of a span in list order, and whether there are more beyond them in the direction that was read. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

/** Returns the condition and the order that read a span by an index over its sort columns, however deep in the list. */
export function keysetOf(columns: readonly SortColumn[], span: Span, parameters: Parameters): KeysetText {
  const falling = span.descending !== span.backward;
  const names = columns.map(({ column }) => column);
  const order = names.map((name) => `${name} ${falling ? 'DESC' : 'ASC'}`).join(', ');
  const limit = `LIMIT ${parameters.add(span.limit + 1)} OFFSET ${parameters.add(span.offset)}`;
  if (span.from === undefined) return { condition: 'true', order, limit };
  const key = columns.map(({ type }, index) => `${parameters.add(span.from?.[index])}::${type}`);
  return { condition: `(${names.join(', ')}) ${falling ? '<' : '>'} (${key.join(', ')})`, order, limit };
}

/** SQL for the WHERE and the ORDER BY of a statement, and its end. */
export interface KeysetText {
  readonly condition: string;
  readonly order: string;
  readonly limit: string;
}

/**
 * Brings the rows of a statement with {@link keysetOf} into list order and removes the extra one that only shows that
 * there are more. `count`: the number of rows it found, if it returned fewer.
 */
export function pageOf<Row>(found: readonly Row[], span: Span, count = found.length): Page<Row> {
  const rows = found.slice(0, span.limit);
  return { rows: span.backward ? rows.reverse() : rows, more: count > rows.length };
}

/** A half-open range of time: from `from` until before `to`, in milliseconds since 1970; absent: open. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** SQL for the moment of a parameter that holds milliseconds since 1970. */
export function momentAt(place: string): string {
  return `to_timestamp(${place}::numeric / 1000.0)`;
}
