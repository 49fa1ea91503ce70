import type { ReadStream } from 'node:tty';
import type { Readable, Writable } from 'node:stream';

/** Streams of a command. */
export interface Terminal {
  readonly input: (Readable & { readonly isTTY?: boolean }) | ReadStream;
  /** Results, which other programs may read. */
  readonly output: Writable & { readonly isTTY?: boolean };
  /** Questions, progress, warnings and errors. */
  readonly messages: Writable & { readonly isTTY?: boolean };
}

/** Longest line that is read from standard input, in characters. */
const LONGEST_LINE = 8192;

/** Reads the first line of an input that is no terminal, without its end. Longer lines than 8192 characters are cut. */
export async function firstLine(input: Readable): Promise<string> {
  let text = '';
  input.setEncoding('utf8');
  for await (const part of input) {
    text += String(part);
    if (text.includes('\n') || text.length > LONGEST_LINE) break;
  }
  const [line = ''] = text.slice(0, LONGEST_LINE).split(/\r?\n/);
  return line;
}
