import type { Fault } from '../crds/fault.ts';
import { memberPath } from '../crds/path.ts';
import { DEEPEST } from '../crds/text.ts';
import { Problem } from './problem.ts';

/**
 * Reads JSON as I-JSON (RFC 7493): no member twice in an object, no number that would lose digits. A byte order mark at
 * its beginning is ignored (RFC 8259 §8.1). Throws Problem
 * `not-parsable` for invalid JSON or too deep nesting, `invalid` for more than {@link MOST_VALUES} values and, with the
 * field, for the rest; `what` names the text for people.
 */
export function readJson(marked: string, what = 'The body'): unknown {
  const text = marked.replace(/^\ufeff/, '');
  refuseMany(text, what);
  const value = parsed(text, what);
  const fault = faultIn(text);
  if (fault !== undefined) throw new Problem('invalid', [fault]);
  return value;
}

/** Maximum members and elements of a text, in all its objects and arrays: reading 20,000 takes some 10 ms. */
const MOST_VALUES = 20_000;

/**
 * Bounds a text before it is parsed. Each value but the first of an object or array follows a comma; characters outside
 * strings are counted, whether or not the text is JSON.
 */
function refuseMany(text: string, what: string): void {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) at = endOfText(text, at);
    else if (sign === COMMA) values += 1;
    else if (sign === CLOSING_BRACE || sign === CLOSING_BRACKET) depth -= 1;
    else if (sign === BRACE || sign === BRACKET) {
      values += 1;
      depth += 1;
    }
    if (depth > DEEPEST) throw new Problem('not-parsable', `${what} nests deeper than ${String(DEEPEST)} levels`);
    if (values > MOST_VALUES) {
      const most = `${String(MOST_VALUES)} members and elements`;
      throw new Problem('invalid', `${what} has more than ${most}: send less at once`);
    }
  }
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [BRACE, CLOSING_BRACE, BRACKET, CLOSING_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Returns the position of the quote that ends the string at `start`; the end of the text if none does. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    if (!isEscaped(text, at)) return at;
  }
  return text.length;
}

/** Checks whether an odd number of backslashes precedes a quote. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('not-parsable', `${what} is not valid JSON${placeOf(error, text)}`);
  }
}

/** Returns the place of an error, without the text that the engine's own message quotes. */
function placeOf(error: unknown, text: string): string {
  const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return `: see line ${String(lines.length)}, column ${String((lines.at(-1)?.length ?? 0) + 1)}`;
}

/** An object or array that is open at some place of the text. */
interface Open {
  /** The value that it is a part of; undefined for the whole. */
  readonly within: Open | undefined;
  /** The members so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The member or index that comes next or is being read. */
  key: string | number;
}

/** Finds the first fault in a valid JSON text that `JSON.parse` would silently ignore. */
function faultIn(text: string): Fault | undefined {
  const open: Open[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t') continue;
    const here = open.at(-1);
    if (sign === '{' || sign === '[') {
      open.push({ within: here, names: sign === '{' ? new Set() : undefined, key: 0 });
    } else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',' && typeof here?.key === 'number') here.key += 1;
    else if (sign === '"') {
      const end = endOfText(text, at) + 1;
      if (here?.names !== undefined && isName(text, end)) {
        here.key = nameIn(text.slice(at, end));
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
  return here === undefined ? '' : memberPath(pathIn(here.within), String(here.key), here.names === undefined);
}

function nameIn(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
}

function isName(text: string, end: number): boolean {
  let next = end;
  while (/\s/.test(text[next] ?? '')) next += 1;
  return text[next] === ':';
}

function numberAt(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? '';
}

const NUMBER = /[-+.0-9eE]+/y;

/** Checks whether a number, as written, has no exact or finite value among IEEE 754 doubles (RFC 7493 §2.2). */
export function losesDigits(text: string): boolean {
  const value = Number(text);
  return !Number.isFinite(value) || (/^[-+]?\d+$/.test(text) && !Number.isSafeInteger(value));
}
