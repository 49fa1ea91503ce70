import type { ReadStream } from 'node:tty';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError, EXIT, usageError } from './cli-error.ts';

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

/** Asks for a line on a terminal. Throws CliError for ^C, ^D, and where there is no terminal. */
export function ask(terminal: Terminal, question: string): Promise<string> {
  return readAnswer(terminal, question, terminal.messages);
}

/** Asks for a line that does not appear while it is typed. Throws like {@link ask}. */
export async function askHidden(terminal: Terminal, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await readAnswer(terminal, question, nowhere);
  } finally {
    terminal.messages.write('\n');
  }
}

/** Asks for a secret on a terminal, like {@link askHidden}; elsewhere reads it as a line of standard input. */
export function askOrReadSecret(terminal: Terminal, question: string): Promise<string> {
  return terminal.input.isTTY === true ? askHidden(terminal, question) : firstLine(terminal.input);
}

function readAnswer({ input, messages }: Terminal, question: string, output: Writable): Promise<string> {
  if (input.isTTY !== true) throw usageError('this asks questions, and standard input is no terminal');
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  // The question comes after the echo is off: an answer may follow it at once.
  if (output !== messages) messages.write(question);
  return new Promise((resolve, reject) => {
    lines.on('SIGINT', () => lines.close());
    // Also at the end of the input. After an answer it changes nothing.
    lines.on('close', () => reject(new CliError(EXIT.interrupted, '')));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}
