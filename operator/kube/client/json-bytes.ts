/** Place of a value, or of a member with its name, in the bytes. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Error: the bytes are not what a JSON encoder writes without blanks. */
export class UnexpectedBytes extends Error {
  override readonly name = 'UnexpectedBytes';
}

/** JSON without blanks, as the API server writes it: values are found in it without parsing the others. */
export class JsonBytes {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Returns where the value of a member begins in the object that begins at a place; undefined if it has no such
   * member. Only the values before it are read. Throws UnexpectedBytes.
   */
  valueOf(name: string, at: number): number | undefined {
    for (const { start, value } of this.#starts(at)) {
      if (this.#bytes.toString('latin1', start + 1, value - 2) === name) return value;
    }
    return undefined;
  }

  /** Yields the members of the object that begins at a place. Throws UnexpectedBytes. */
  *members(at: number): Generator<Place> {
    for (const { start, end } of this.#starts(at)) yield { start, end: end() };
  }

  /** Returns the characters of a value as JSON.stringify would write it. */
  characters({ start, end }: Place): number {
    let count = 0;
    for (let at = start; at < end; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      if (byte === BACKSLASH) {
        const isCode = this.#bytes[at + 1] === LETTER_U;
        count += isCode ? lengthOfCode(Number.parseInt(this.#bytes.toString('latin1', at + 2, at + 6), 16)) : 2;
        at += isCode ? 5 : 1;
      } else if ((byte & 0xc0) !== 0x80) {
        // Not a continuation; four bytes of UTF-8 are two characters.
        count += byte >= 0xf0 ? 2 : 1;
      }
    }
    return count;
  }

  /**
   * Yields the beginnings of the members of an object, and of their values; `end` looks for the end of a value, once.
   */
  *#starts(at: number): Generator<{ readonly start: number; readonly value: number; readonly end: () => number }> {
    let start = this.#after(at, OPENING_BRACE);
    while (this.#bytes[start] !== CLOSING_BRACE) {
      const value = this.#after(this.#endOfString(start), COLON);
      let found: number | undefined;
      const end = (): number => (found ??= this.#endOf(value));
      yield { start, value, end };
      if (this.#bytes[end()] === CLOSING_BRACE) return;
      start = this.#after(end(), COMMA);
    }
  }

  #endOf(at: number): number {
    const first = this.#bytes[at];
    if (first === QUOTE) return this.#endOfString(at);
    if (first === OPENING_BRACE || first === OPENING_BRACKET) return this.#endOfNested(at);
    let end = at;
    while (end < this.#bytes.length && !ends.has(this.#bytes[end] ?? 0)) end += 1;
    return end;
  }

  #endOfNested(at: number): number {
    let depth = 0;
    for (let end = at; end < this.#bytes.length; end += 1) {
      const byte = this.#bytes[end];
      if (byte === QUOTE) end = this.#endOfString(end) - 1;
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
      else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
      if (depth === 0) return end + 1;
    }
    throw new UnexpectedBytes();
  }

  #endOfString(at: number): number {
    let end = this.#after(at, QUOTE);
    for (;;) {
      end = this.#bytes.indexOf(QUOTE, end);
      if (end === -1) throw new UnexpectedBytes();
      let escapes = 0;
      while (this.#bytes[end - 1 - escapes] === BACKSLASH) escapes += 1;
      end += 1;
      if (escapes % 2 === 0) return end;
    }
  }

  #after(at: number, expected: number): number {
    if (this.#bytes[at] !== expected) throw new UnexpectedBytes();
    return at + 1;
  }
}

const [QUOTE, COMMA, COLON, BACKSLASH, LETTER_U] = [0x22, 0x2c, 0x3a, 0x5c, 0x75];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const ends: ReadonlySet<number> = new Set([COMMA, CLOSING_BRACKET, CLOSING_BRACE]);

/** Returns the characters that JSON.stringify writes for a character that another encoder has written by its code. */
function lengthOfCode(code: number): number {
  if (code >= 0x20) return code === QUOTE || code === BACKSLASH ? 2 : 1;
  return shortEscapes.has(code) ? 2 : 6;
}

/** \b, \t, \n, \f and \r. */
const shortEscapes: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);
