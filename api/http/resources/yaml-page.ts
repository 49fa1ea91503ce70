import { stringify } from 'yaml';
import type { LoopTurn } from '../loop-time.ts';

/** Milliseconds of the event loop that a slice takes, unless one resource takes longer. */
const longestSlice = 5;

/** Writes a value as YAML. Strings that YAML 1.1 or 1.2 reads as something else are quoted; nothing is folded or aliased. */
export function yamlOf(value: unknown): string {
  return stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/**
 * Writes the body of an answer as {@link yamlOf} does, a list or the entries of a Bundle in slices: YAML of a thousand
 * resources takes 80 to 240 ms (measured), in which no other request would be served.
 */
export async function yamlInSlices(body: unknown, turn: LoopTurn): Promise<string> {
  const page = pageIn(body);
  if (page === undefined) return yamlOf(body);
  const parts = [page.head];
  let next = 0;
  while (next < page.items.length) {
    await turn(() => {
      const end = performance.now() + longestSlice;
      do {
        parts.push(indented(yamlOf([page.items[next]]), page.indent));
        next += 1;
      } while (next < page.items.length && performance.now() < end);
    });
  }
  return parts.join('');
}

interface Page {
  /** The text before the items. */
  readonly head: string;
  readonly items: readonly unknown[];
  readonly indent: string;
}

/** The body as a page with items; undefined where it is none. */
function pageIn(body: unknown): Page | undefined {
  if (isFilled(body)) return { head: '', items: body, indent: '' };
  if (typeof body !== 'object' || body === null || Object.keys(body).at(-1) !== 'entry') return undefined;
  const { entry, ...rest } = { entry: undefined, ...body };
  return isFilled(entry) ? { head: `${yamlOf(rest)}entry:\n`, items: entry, indent: '  ' } : undefined;
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** Only a line feed begins a line that is indented; YAML keeps other separators inside of a text. */
function indented(text: string, indent: string): string {
  if (indent === '') return text;
  return text
    .split('\n')
    .map((line) => (line === '' ? line : `${indent}${line}`))
    .join('\n');
}
