/** The first fault of a JSON text; line and column count from 1. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  /** The character that does not fit; '' at the end of the text. */
  readonly found: string;
}

/**
 * Finds the first character that makes a text invalid JSON (RFC 8259); undefined if it is valid. Linear in the text.
 */
export function checkJson(text: string): JsonFault | undefined {
  const at = faultAt(text);
  if (at === undefined) return undefined;
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1, found: signAt(text, at) };
}

function signAt(text: string, at: number): string {
  const sign = text.codePointAt(at);
  return sign === undefined ? '' : String.fromCodePoint(sign);
}

/** Token of JSON: a literal, a number, a text up to its last valid character, or a sign. */
const literal = /true|false|null/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// A run, not a character, in each step: a text may have a million of them.
// eslint-disable-next-line no-control-regex -- RFC 8259 §7: control characters must be escaped
const plain = /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const blank = /[ \t\n\r]*/y;

/** Tokens that may come next. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/** A reader of one text: where it is, what it expects, and the open objects and arrays. */
interface Reader {
  readonly text: string;
  at: number;
  expected: Expected;
  readonly open: ('{' | '[')[];
}

/** Returns the offset of the first character that does not fit; nesting needs no stack of calls. */
function faultAt(text: string): number | undefined {
  const reader: Reader = { text, at: 0, expected: 'value', open: [] };
  for (;;) {
    reader.at = endOf(blank, text, reader.at) ?? reader.at;
    if (reader.at >= text.length) return reader.expected === 'nothing' ? undefined : text.length;
    const fault = step(reader);
    if (fault !== undefined) return fault;
  }
}

/** Reads one token; returns the offset of a fault. */
function step(reader: Reader): number | undefined {
  const sign = reader.text.charAt(reader.at);
  const { expected } = reader;
  if (expected === 'nothing') return reader.at;
  if (expected === 'colon') return sign === ':' ? take(reader, 'value') : reader.at;
  if (expected === 'comma or end') {
    if (sign === ',') return take(reader, reader.open.at(-1) === '{' ? 'key' : 'value');
    return close(reader, sign);
  }
  if (expected === 'key' || expected === 'key or end') {
    if (sign === '"') return string(reader, 'colon');
    return expected === 'key or end' ? close(reader, sign) : reader.at;
  }
  if (expected === 'value or end' && sign === ']') return close(reader, sign);
  return value(reader, sign);
}

function value(reader: Reader, sign: string): number | undefined {
  if (sign === '{' || sign === '[') {
    reader.open.push(sign);
    return take(reader, sign === '{' ? 'key or end' : 'value or end');
  }
  if (sign === '"') return string(reader, afterValue(reader));
  const end = endOf(literal, reader.text, reader.at) ?? endOf(number, reader.text, reader.at);
  if (end === undefined) return reader.at;
  reader.at = end;
  reader.expected = afterValue(reader);
  return undefined;
}

function string(reader: Reader, next: Expected): number | undefined {
  let at = reader.at + 1;
  for (;;) {
    const end = endOf(plain, reader.text, at);
    if (end === undefined) break;
    at = end;
  }
  if (reader.text.charAt(at) !== '"') return at;
  reader.at = at + 1;
  reader.expected = next;
  return undefined;
}

function close(reader: Reader, sign: string): number | undefined {
  const isClosing = sign === (reader.open.at(-1) === '{' ? '}' : ']');
  if (!isClosing) return reader.at;
  reader.open.pop();
  return take(reader, afterValue(reader));
}

/** Passes over one sign; there is no fault. */
function take(reader: Reader, next: Expected): number | undefined {
  reader.at += 1;
  reader.expected = next;
  return undefined;
}

function afterValue({ open }: Reader): Expected {
  return open.length === 0 ? 'nothing' : 'comma or end';
}

/** Returns the end of a token that begins at an offset; undefined if there is none. */
function endOf(token: RegExp, text: string, at: number): number | undefined {
  token.lastIndex = at;
  return token.test(text) ? token.lastIndex : undefined;
}
