import { isList, isObject, type JsonObject } from '../../../crds/json-value.ts';
import { grouped } from '../../../process/plain-text.ts';
import type { BoxAnswer, BoxClient } from '../box-client.ts';
import type { OptionValues } from '../option-values.ts';
import type { Terminal } from '../terminal.ts';

/** A list of the box: its path, the filters by their parameter, and how many entries are wanted at most. */
export interface Listing {
  readonly path: string;
  readonly filters?: Readonly<Record<string, string | undefined>>;
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
  { messages }: Pick<Terminal, 'messages'>,
): Promise<readonly JsonObject[]> {
  const query = new URLSearchParams({ _count: String(Math.min(PAGE, most)), _total: 'none', _result: 'array' });
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
  for (const [name, bounds] of Object.entries(ranges)) for (const bound of bounds) query.append(name, bound);
  const found: JsonObject[] = [];
  let next: string | undefined = `${path}?${query.toString()}`;
  while (next !== undefined && found.length < most) {
    const page: BoxAnswer = await client.request('GET', next);
    if (isList(page.body)) found.push(...page.body.filter(isObject));
    ({ next } = page);
    if (messages.isTTY === true && next !== undefined) messages.write(`\r${grouped(found.length)} so far`);
  }
  if (messages.isTTY === true && found.length > PAGE) messages.write('\r\x1b[K');
  return found.slice(0, most);
}

/** Returns the options of these names that were given once, by name. */
export function given(values: OptionValues, names: readonly string[]): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    names.map((name) => {
      const value = values[name];
      return [name, typeof value === 'string' ? value : undefined] as const;
    }),
  );
}
