import { refusedParameter } from './values.ts';

/** Content of `_page`: a numbered page (from 1), the last one, or the rows after or before one row of the list. */
export type PageMark =
  | { readonly at: 'number'; readonly number: number }
  | { readonly at: 'last' }
  | { readonly at: 'after' | 'before'; readonly key: readonly string[] };

/** Form of a cursor's parts for one sort order; a cursor that does not match never reaches a statement. */
export interface CursorForm {
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
