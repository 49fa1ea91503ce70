import type { JsonObject } from '../../../crds/path.ts';
import { textOf } from '../connection/members.ts';
import { withQuery } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import type { Messages } from '../messages/messages.ts';

/** A value in a table: a text, a time of the API, or a state. */
export type Cell = string | { readonly time: string } | { readonly chip: string; readonly tone: Tone };

/** Look of a state. */
export type Tone = 'good' | 'bad' | 'plain';

/** A column of a table. */
export interface Column {
  readonly header: (say: Messages) => string;
  readonly cell: (record: JsonObject, say: Messages) => Cell;
  /** Field by which the API sorts a list of which only a part is read. */
  readonly sort?: string;
  /** Least width of a table that has this column; `record`: no table has it. */
  readonly from?: 'medium' | 'wide' | 'record';
  /** True if the hook of the table fills it: an open record shows it too. */
  readonly isMore?: true;
}

/** A record in a table. */
export interface Row {
  readonly id: string;
  /** One for each column; the first one names the record. */
  readonly cells: readonly Cell[];
  /** The user whom a cell names by ID. */
  readonly user?: { readonly id: string; readonly column: number } | undefined;
}

/** A table of records of the API. */
export interface RowSource {
  /** Path and query of the first page. */
  readonly path: ApiPath;
  readonly columns: readonly Column[];
  /** Hook that fills cells by other requests; the filter matches them. */
  readonly useMore?: (rows: readonly Row[]) => readonly Row[];
  readonly userOf?: (record: JsonObject) => Row['user'];
  /** True if all pages are read, because the API cannot search for a part of a name. */
  readonly readsAll: boolean;
  /** The order in which the API lists the records, if it is that of a column. */
  readonly sorted?: Sort;
  /** Path and query of a search for records that are not read yet; undefined if the API cannot search for this text. */
  readonly find?: (text: string) => ApiPath | undefined;
  /** Path and query of a search for the records of a user, where a text that is their email is to find them. */
  readonly findByUser?: (user: number) => ApiPath;
}

/** An order of rows. */
export interface Sort {
  /** Number of the column. */
  readonly column: number;
  readonly isDescending: boolean;
}

/** Returns a record as a table shows it. */
export function rowOf({ columns, userOf }: RowSource, record: JsonObject, say: Messages): Row {
  return { id: textOf(record, 'id'), cells: columns.map(({ cell }) => cell(record, say)), user: userOf?.(record) };
}

/** Returns the text of a cell: of a time, as the API writes it. */
function cellText(cell: Cell | undefined): string {
  if (cell === undefined || typeof cell === 'string') return cell ?? '';
  return 'time' in cell ? cell.time : cell.chip;
}

/** Returns the name of a record: its first cell. */
export function titleOf({ cells }: Row): string {
  return cellText(cells[0]);
}

/** Returns the rows that a filter text matches, ignoring case: every word occurs in a row. The text is no pattern. */
export function matching(rows: readonly Row[], text: string): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ id, cells }) => {
    const all = [id, ...cells.map(cellText)].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Returns rows in an order: numbers in a text as numbers. */
export function inOrder(rows: readonly Row[], sort: Sort | undefined): readonly Row[] {
  if (sort === undefined) return rows;
  const { column, isDescending } = sort;
  const sign = isDescending ? -1 : 1;
  return rows.toSorted(
    (one, other) => sign * collator.compare(cellText(one.cells[column]), cellText(other.cells[column])),
  );
}

/** Returns the rows of two lists, each ID once, in the order of the first one. */
export function united(rows: readonly Row[], more: readonly Row[]): readonly Row[] {
  if (more.length === 0) return rows;
  const known = new Set(rows.map(({ id }) => id));
  return [...rows, ...more.filter(({ id }) => !known.has(id))];
}

/** Returns the path and query of the next page that a Link header names (RFC 8288); undefined on the last page. */
export function nextPage(path: ApiPath, link: string | null): ApiPath | undefined {
  const address = (link ?? '').split(/,\s*(?=<)/).find((one) => one.endsWith('; rel="next"'));
  const query = address === undefined ? undefined : /<[^?>]*(\?[^>]*)>/.exec(address)?.[1];
  return query === undefined ? undefined : withQuery(path, query);
}
