import { stringify } from 'yaml';
import type { ListPage } from '../resources/resource-exchange.ts';
import type { Turn } from '../../../program/scheduling.ts';

/** Milliseconds of the event loop that a slice takes, unless one resource takes longer. */
const longestSlice = 2;

/** Milliseconds that each page gets without a turn: a short page never waits for long ones of other boxes. */
const withoutTurn = 1;

/** A way to write a page: the whole, or its parts one after the other. */
export interface PageForm {
  /** Writes a body that is not a page, or has no items. */
  whole(body: unknown): string;
  /** Writes the part before the items: `bundle` has everything but them, undefined for a list. */
  head(bundle: object | undefined): string;
  /** Writes an item. */
  item(item: unknown, place: { readonly isFirst: boolean; readonly isEntry: boolean }): string;
  /** Writes the part after the items. */
  tail(isBundle: boolean): string;
}

/** YAML. Strings that YAML 1.1 or 1.2 reads as something else are quoted; nothing is folded or aliased. */
export const yamlPage: PageForm = {
  whole: yamlOf,
  head: (bundle) => (bundle === undefined ? '' : `${yamlOf(bundle)}entry:\n`),
  item: (item, { isEntry }) => (isEntry ? indented(yamlOf([item])) : yamlOf([item])),
  tail: () => '',
};

/** JSON, without white space. */
export const jsonPage: PageForm = {
  whole: (body) => JSON.stringify(body),
  head: (bundle) => (bundle === undefined ? '[' : `${JSON.stringify(bundle).slice(0, -1)},"entry":[`),
  item: (item, { isFirst }) => (isFirst ? JSON.stringify(item) : `,${JSON.stringify(item)}`),
  tail: (isBundle) => (isBundle ? ']}' : ']'),
};

function yamlOf(value: unknown): string {
  return stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/**
 * Writes a page in a form, with what shows its items. The part after the first millisecond is written in turns: a
 * thousand resources take 80 to 240 ms in YAML and 10 to 25 ms in JSON (measured), in which no other request would be
 * served. The text of each turn is a piece of its own, since one large text would be sent at once.
 */
export async function writeInSlices(
  { bundle, items }: ListPage,
  form: PageForm,
  turn: Turn,
): Promise<string | readonly Buffer[]> {
  const isEntry = bundle !== undefined;
  let next = items.next();
  if (next.done === true) return form.whole(isEntry ? { ...bundle, entry: [] } : []);
  let isFirst = true;
  const write = (milliseconds: number): string => {
    const end = performance.now() + milliseconds;
    const parts: string[] = isFirst ? [form.head(bundle)] : [];
    do {
      parts.push(form.item(next.value, { isFirst, isEntry }));
      isFirst = false;
      next = items.next();
    } while (next.done !== true && performance.now() < end);
    if (next.done === true) parts.push(form.tail(isEntry));
    return parts.join('');
  };
  const beginning = write(withoutTurn);
  if (isOver(next)) return beginning;
  const pieces = [Buffer.from(beginning)];
  while (!isOver(next)) await turn(() => void pieces.push(Buffer.from(write(longestSlice))));
  return pieces;
}

function isOver({ done }: IteratorResult<unknown>): boolean {
  return done === true;
}

/** Indents lines. Only a line feed ends a line; YAML keeps other separators inside a text. */
function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : `  ${line}`))
    .join('\n');
}
