import { isList, isObject, type JsonObject } from '../../crds/path.ts';
import { grouped } from '../../program/text.ts';
import { noBoxAnswer, type BoxAnswer, type BoxClient } from './box-client.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './cli-error.ts';
import type { OptionValues } from './option-values.ts';

/** A list of the box: its path, the filters by their parameter, and how many entries are wanted at most. */
interface Listing {
  readonly path: string;
  readonly filters?: Readonly<Record<string, string>>;
  /** Bounds of fields, by their parameter: each may be given twice. */
  readonly ranges?: Readonly<Record<string, readonly string[]>>;
  /** Absent: all of them. */
  readonly most?: number;
}

/** Entries on a page: the most that a box gives. */
const PAGE = 1000;

/** Reads a list page by page to its end, with a line of progress on a terminal. Throws CliError. */
export async function listAll(
  client: BoxClient,
  { path, filters = {}, ranges = {}, most = Infinity }: Listing,
  terminal: Pick<Terminal, 'messages'>,
): Promise<readonly JsonObject[]> {
  const query = new URLSearchParams({ _count: String(Math.min(PAGE, most)), _total: 'none', _result: 'array' });
  for (const [name, value] of Object.entries(filters)) query.set(name, value);
  for (const [name, bounds] of Object.entries(ranges)) for (const bound of bounds) query.append(name, bound);
  const found: JsonObject[] = [];
  for await (const page of pagesOf(client, { path: `${path}?${query.toString()}`, noun: '' }, terminal)) {
    for (const entry of page) if (isObject(entry)) found.push(entry);
    if (found.length >= most) break;
  }
  return found.slice(0, most);
}

/** A list that is read page by page. */
export interface PagedList {
  /** Path and query of the first page. */
  readonly path: string;
  /** Name of its entries in the line of progress, in front of "so far"; empty for none. */
  readonly noun: string;
}

/** Yields the entries of each page of a list, with a line of progress on a terminal between them. Throws CliError. */
export async function* pagesOf(
  client: BoxClient,
  { path, noun }: PagedList,
  { messages }: Pick<Terminal, 'messages'>,
): AsyncGenerator<readonly unknown[]> {
  let next: string | undefined = path;
  let count = 0;
  let isShown = false;
  try {
    while (next !== undefined) {
      const page: BoxAnswer = await client.request('GET', next);
      if (!isList(page.body)) throw noBoxAnswer(client.base);
      const entries = page.body;
      count += entries.length;
      yield entries;
      ({ next } = page);
      if (messages.isTTY !== true || next === undefined) continue;
      messages.write(`\r${grouped(count)}${noun === '' ? '' : ` ${noun}`} so far`);
      isShown = true;
    }
  } finally {
    if (isShown) messages.write('\r\x1b[K');
  }
}

/** Returns the options of these names that were given, each once, by name. */
export function given(values: OptionValues, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = values[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** Returns the number of an option `--limit`. Throws CliError. */
export function limitOf(value: OptionValues[string], otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw usageError('--limit must be a number of at least 1');
}

/** Returns the texts that an option was given, in their order. */
export function several(value: OptionValues[string]): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
