import { stringify } from 'yaml';
import type { LoopTurn } from '../server/loop-time.ts';

/** Milliseconds of the event loop that a slice takes, unless one resource takes longer. */
const longestSlice = 5;

/** Milliseconds that each page gets without a turn: a short page never waits for long ones of other boxes. */
const withoutTurn = 1;

/** A way to write a page: the whole, or its parts one after the other. */
export interface PageForm {
  /** Writes a body that is not a page, or has no items. */
  whole(body: unknown): string;
  /** Writes the part before the items: `rest` is the Bundle without them, undefined for a list. */
  head(rest: object | undefined): string;
  /** Writes an item. */
  item(item: unknown, place: { readonly isFirst: boolean; readonly isEntry: boolean }): string;
  /** Writes the part after the items. */
  tail(isBundle: boolean): string;
}

/** YAML. Strings that YAML 1.1 or 1.2 reads as something else are quoted; nothing is folded or aliased. */
export const yamlPage: PageForm = {
  whole: yamlOf,
  head: (rest) => (rest === undefined ? '' : `${yamlOf(rest)}entry:\n`),
  item: (item, { isEntry }) => (isEntry ? indented(yamlOf([item])) : yamlOf([item])),
  tail: () => '',
};

/** JSON, without white space. */
export const jsonPage: PageForm = {
  whole: (body) => JSON.stringify(body),
  head: (rest) => (rest === undefined ? '[' : `${JSON.stringify(rest).slice(0, -1)},"entry":[`),
  item: (item, { isFirst }) => (isFirst ? JSON.stringify(item) : `,${JSON.stringify(item)}`),
  tail: (isBundle) => (isBundle ? ']}' : ']'),
};

function yamlOf(value: unknown): string {
  return stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/**
 * Writes the body of an answer in a form. Of a list or of the entries of a Bundle, the part after the first millisecond
 * is written in turns: a thousand resources take 80 to 240 ms in YAML and 5 to 20 ms in JSON (measured), in which no
 * other request would be served.
 */
export async function writeInSlices(body: unknown, form: PageForm, turn: LoopTurn): Promise<string> {
  const page = pageIn(body);
  if (page === undefined) return form.whole(body);
  const { items, rest } = page;
  const isEntry = rest !== undefined;
  const parts = [form.head(rest)];
  let next = 0;
  const write = (milliseconds: number): void => {
    const end = performance.now() + milliseconds;
    do {
      parts.push(form.item(items[next], { isFirst: next === 0, isEntry }));
      next += 1;
    } while (next < items.length && performance.now() < end);
  };
  write(withoutTurn);
  const slice = (): void => {
    write(longestSlice);
  };
  while (next < items.length) await turn(slice);
  parts.push(form.tail(isEntry));
  return parts.join('');
}

interface Page {
  /** A Bundle without its entries; undefined for a list. */
  readonly rest: object | undefined;
  readonly items: readonly unknown[];
}

/** Returns the body as a page with items; undefined if it is not one. */
function pageIn(body: unknown): Page | undefined {
  if (isFilled(body)) return { rest: undefined, items: body };
  if (typeof body !== 'object' || body === null || Object.keys(body).at(-1) !== 'entry') return undefined;
  const { entry, ...rest } = { entry: undefined, ...body };
  return isFilled(entry) ? { rest, items: entry } : undefined;
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** Indents lines. Only a line feed ends a line; YAML keeps other separators inside a text. */
function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : `  ${line}`))
    .join('\n');
}
