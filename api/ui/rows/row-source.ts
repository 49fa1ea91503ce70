import type { JsonObject } from '../../../crds/path.ts';
import type { Column } from '../../schemas/columns.ts';
import { textOf } from '../connection/members.ts';
import { withQuery } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import type { Messages } from '../messages/messages.ts';

/** A record in a list. */
export interface Row {
  readonly id: string;
  readonly title: string;
  /** A second line; '' if there is none. */
  readonly detail: string;
  /** The user whom the title names by ID, and the title with the email. */
  readonly user?: { readonly id: string; readonly titled: (email: string) => string } | undefined;
}

/** Returns a record as a list shows it, by the columns of its kind. */
export function rowIn(columns: readonly Column[], record: JsonObject): Row {
  const lineOf = (wanted: Column['line']): string =>
    columns
      .flatMap(({ line, text }) => (line === wanted ? [text(record)] : []))
      .filter(Boolean)
      .join(' · ');
  return { id: textOf(record, 'id'), title: lineOf('title'), detail: lineOf('detail') };
}

/** A list of records of the API. */
export interface RowSource {
  /** Path and query of the first page. */
  readonly path: ApiPath;
  readonly rowOf: (record: JsonObject, say: Messages) => Row;
  /** True if all pages are read, because the API cannot search for a part of a name. */
  readonly readsAll: boolean;
  /** Path and query of a search for records that are not read yet; undefined if the API cannot search for this text. */
  readonly find?: (text: string) => ApiPath | undefined;
  /** Path and query of a search for the records of a user, where a text that is their email is to find them. */
  readonly findByUser?: (user: number) => ApiPath;
}

/** Returns the rows that a filter text matches, ignoring case: every word occurs in a row. The text is no pattern. */
export function matching(rows: readonly Row[], text: string): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ id, title, detail }) => {
    const all = `${id}\n${title}\n${detail}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
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
