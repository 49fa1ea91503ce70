import type { Fault } from '../crds/fault.ts';
import { memberPath } from '../crds/path.ts';
import { DEEPEST } from '../crds/text.ts';
import { Problem } from './problem.ts';

/**
 * Reads JSON as I-JSON (RFC 7493): no member twice in an object, no number that would lose digits. Throws Problem
 * `not-parsable` for what is no JSON or nests too deep, `invalid` with the field for the rest; `what` the text is, for people.
 */
export function readJson(text: string, what = 'The body'): unknown {
  const value = parsed(text, what);
  const fault = faultIn(text, what);
  if (fault !== undefined) throw new Problem('invalid', [fault]);
  return value;
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('not-parsable', `${what} is not valid JSON${placeOf(error, text)}`);
  }
}

/** Where, never what: the engine's own message quotes the text. */
function placeOf(error: unknown, text: string): string {
  const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return `: see line ${String(lines.length)}, column ${String((lines.at(-1)?.length ?? 0) + 1)}`;
}

/** An object or array that is open at some place of the text. */
interface Open {
  readonly path: string;
  /** The members so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The member or index that comes next or is being read. */
  key: string | number;
}

/** The first thing in a valid JSON text that `JSON.parse` would pass over in silence. */
function faultIn(text: string, what: string): Fault | undefined {
  const open: Open[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    const here = open.at(-1);
    if (sign === '{' || sign === '[') {
      if (open.length >= DEEPEST)
        throw new Problem('not-parsable', `${what} nests deeper than ${String(DEEPEST)} levels`);
      open.push({ path: pathIn(here), names: sign === '{' ? new Set() : undefined, key: 0 });
    } else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',' && typeof here?.key === 'number') here.key += 1;
    else if (sign === '"') {
      const end = endOfString(text, at);
      if (here?.names !== undefined && isName(text, end)) {
        here.key = String(JSON.parse(text.slice(at, end)));
        if (here.names.has(here.key)) return { path: pathIn(here), message: 'must not be given twice' };
        here.names.add(here.key);
      }
      at = end - 1;
    } else if (sign !== undefined && /[-0-9]/.test(sign)) {
      const number = numberAt(text, at);
      if (losesDigits(number))
        return { path: pathIn(here), message: 'must be a number of up to 15 digits, or a string' };
      at += number.length - 1;
    }
  }
  return undefined;
}

function pathIn(here: Open | undefined): string {
  return here === undefined ? '' : memberPath(here.path, String(here.key), here.names === undefined);
}

/** The place behind the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

function isName(text: string, end: number): boolean {
  let next = end;
  while (/\s/.test(text[next] ?? '')) next += 1;
  return text[next] === ':';
}

function numberAt(text: string, start: number): string {
  const number = /[-+.0-9eE]+/y;
  number.lastIndex = start;
  return number.exec(text)?.[0] ?? '';
}

/** Whether a number, as it is written, has no exact or finite value among IEEE 754 doubles (RFC 7493 §2.2). */
export function losesDigits(text: string): boolean {
  const value = Number(text);
  return !Number.isFinite(value) || (/^[-+]?\d+$/.test(text) && !Number.isSafeInteger(value));
}
