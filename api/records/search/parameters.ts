import { wordHint } from '../../../crds/did-you-mean.ts';
import { NUMBERED_ID } from '../../../crds/fields.ts';
import type { SortColumn } from '../../db/core/keyset.ts';
import { readNumber, readText, readWord, refusedParameter } from './values.ts';

/** Search parameters of one kind of resource. */
export interface SearchDefinition<Filters> {
  /** Common parameters that it takes; absent: all. */
  readonly controls?: readonly string[];
  /** Fields of the resource as it is shown: those that `_elements` may list, where it is a parameter. */
  readonly elements: ReadonlySet<string>;
  /** Fields that `_sort` may name, each with the columns of its sort key. */
  readonly sorts: Readonly<Record<string, readonly SortColumn[]>>;
  /** The default order. */
  readonly sort: string | ((query: URLSearchParams) => string);
  /** Reads the only value of a filter. Throws Problem `bad-request`. */
  readonly filters: Readonly<Record<string, (text: string, name: string) => Filters>>;
  /** Reads the values of a filter that may be repeated. */
  readonly ranges: Readonly<Record<string, (texts: readonly string[], name: string) => Filters>>;
}

/** A search as it was requested. */
export interface SearchRequest<Filters> {
  readonly filters: Filters;
  /** Rows on a page. */
  readonly count: number;
  /** Absent: the first page. */
  readonly page: PageMark | undefined;
  readonly sort: { readonly text: string; readonly field: string; readonly descending: boolean };
  /** Absent: all. */
  readonly elements: ReadonlySet<string> | undefined;
  /** Limit of the count: 10,000, no count at all, or no limit. */
  readonly total: 'estimate' | 'none' | 'accurate';
  readonly result: 'bundle' | 'array';
}

const defaultCount = 100;
const mostCount = 1000;
const mostRanges = 4;
const controls = ['_count', '_page', '_sort', '_elements', '_total', '_result'];

/**
 * Reads the query of a search. An unknown parameter and one that is repeated (except a range) are refused, never
 * ignored: a misspelt filter would show more than was requested. Throws Problem `bad-request`.
 */
export function readSearch<Filters extends object>(
  query: URLSearchParams,
  definition: SearchDefinition<Filters>,
): SearchRequest<Partial<Filters>> {
  refuseUnknown(query, definition);
  const control = (name: string): string | undefined => single(query, name);
  const defaultSort = typeof definition.sort === 'string' ? definition.sort : definition.sort(query);
  const sort = readSort(control('_sort') ?? defaultSort, definition);
  const page = control('_page');
  return {
    filters: readFilters(query, definition),
    count: readNumber('_count', control('_count') ?? String(defaultCount), 1, mostCount),
    page: page === undefined ? undefined : readPageMark(page, { sort: sort.text, key: sort.key }),
    sort,
    elements: readElements(control('_elements'), definition.elements),
    total: readWord('_total', control('_total') ?? 'estimate', ['none', 'estimate', 'accurate']),
    result: readWord('_result', control('_result') ?? (takes(definition, '_result') ? 'bundle' : 'array'), [
      'bundle',
      'array',
    ]),
  };
}

function refuseUnknown<Filters>(query: URLSearchParams, definition: SearchDefinition<Filters>): void {
  const { filters, ranges } = definition;
  const known = [...Object.keys(filters), ...Object.keys(ranges), ...(definition.controls ?? controls)];
  for (const name of query.keys()) {
    if (!known.includes(name))
      throw refusedParameter(
        shown(name),
        `is not a known parameter; known are ${known.join(', ')}${wordHint(name, known)}`,
      );
  }
}

/** Returns a name from a request for a message: short, and printable. */
function shown(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : 'A parameter of the query';
}

function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw refusedParameter(name, 'must not be given twice');
  return values[0];
}

function readFilters<Filters extends object>(
  query: URLSearchParams,
  { filters, ranges }: SearchDefinition<Filters>,
): Partial<Filters> {
  const found: Partial<Filters>[] = [];
  for (const [name, read] of Object.entries(filters)) {
    const text = single(query, name);
    if (text !== undefined) found.push(read(readText(name, text), name));
  }
  for (const [name, read] of Object.entries(ranges)) {
    const texts = query.getAll(name).map((text) => readText(name, text));
    if (texts.length > mostRanges)
      throw refusedParameter(name, `must not be given more than ${String(mostRanges)} times`);
    if (texts.length > 0) found.push(read(texts, name));
  }
  return found.reduce<Partial<Filters>>((all, one) => ({ ...all, ...one }), {});
}

/** Form of each part of a sort key, by the type of its column: no other text reaches a statement. */
const keyForms: Readonly<Record<SortColumn['type'], RegExp>> = {
  bigint: new RegExp(NUMBERED_ID),
  text: /^[^\0]{1,512}$/u,
  timestamptz: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::?\d\d)?$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
};

function readSort<Filters>(
  text: string,
  { sorts }: SearchDefinition<Filters>,
): SearchRequest<Filters>['sort'] & { readonly key: readonly RegExp[] } {
  const descending = text.startsWith('-');
  const field = readWord('_sort', descending ? text.slice(1) : text, Object.keys(sorts));
  return { text, field, descending, key: (sorts[field] ?? []).map(({ type }) => keyForms[type]) };
}

function readElements(text: string | undefined, known: ReadonlySet<string>): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',');
  if (!names.every((name) => known.has(name))) {
    throw refusedParameter('_elements', `must be a list of fields, such as ${[...known].slice(0, 3).join(',')}`);
  }
  return new Set(names);
}

/**
 * Reads the query of a request for one resource: `_elements` where its kind takes it, and nothing else. Throws Problem
 * `bad-request`.
 */
export function readElementsOnly(
  query: URLSearchParams,
  definition: Pick<SearchDefinition<unknown>, 'controls' | 'elements'>,
): ReadonlySet<string> | undefined {
  const known = takes(definition, '_elements') ? ['_elements'] : [];
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    const instead = known.length === 0 ? 'this request takes none' : 'known is _elements';
    throw refusedParameter(shown(name), `is not a known parameter; ${instead}`);
  }
  return readElements(single(query, '_elements'), definition.elements);
}

function takes({ controls: own = controls }: Pick<SearchDefinition<unknown>, 'controls'>, name: string): boolean {
  return own.includes(name);
}

/** Refuses any parameter: a change takes none. Throws Problem `bad-request`. */
export function refuseParameters(query: URLSearchParams): void {
  for (const name of query.keys()) throw refusedParameter(shown(name), 'is not a known parameter: a change takes none');
}

/** Content of `_page`: a numbered page (from 1), the last one, or the rows after or before one row of the list. */
type PageMark =
  | { readonly at: 'number'; readonly number: number }
  | { readonly at: 'last' }
  | { readonly at: 'after' | 'before'; readonly key: readonly string[] };

/** Form of a cursor's parts for one sort order; a cursor that does not match never reaches a statement. */
interface CursorForm {
  /** The sort order as `_sort` has it: a cursor of another order is refused. */
  readonly sort: string;
  readonly key: readonly RegExp[];
}

/** Returns the text of `_page` for the rows after or before a row. Opaque to callers, not secret. */
export function writeCursor(at: 'after' | 'before', sort: string, key: readonly string[]): string {
  return Buffer.from(JSON.stringify([at, sort, ...key])).toString('base64url');
}

/** Reads `_page`. Throws Problem `bad-request`. */
export function readPageMark(text: string, form: CursorForm): PageMark {
  if (text === 'last') return { at: 'last' };
  if (/^[1-9]\d{0,8}$/.test(text)) return { at: 'number', number: Number(text) };
  const [at, sort, ...key] = parts(text);
  const fits = key.length === form.key.length && key.every((part, index) => form.key[index]?.test(part) === true);
  if ((at !== 'after' && at !== 'before') || sort !== form.sort || !fits) {
    throw refusedParameter('_page', 'must be a number, last, or as a link of an answer with the same _sort has it');
  }
  return { at, key };
}

function parts(text: string): readonly string[] {
  if (!/^[\w-]{1,1024}$/.test(text)) return [];
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : [];
  } catch {
    return [];
  }
}
