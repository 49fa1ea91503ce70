import { isObject, type JsonObject } from '../../../crds/json-value.ts';
import type { BoxClient } from '../box-client.ts';
import type { Terminal } from '../terminal.ts';
import { pagesOf } from './pages.ts';

/** A list of the box: its path, the filters by their parameter, and how many entries are wanted at most. */
export interface Listing {
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
