import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { firstLine, type Terminal } from './terminal.ts';

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
