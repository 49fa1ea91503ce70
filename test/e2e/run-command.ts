import { spawn } from 'node:child_process';

/** Settings of a command. */
export interface CommandOptions {
  /** Text for its standard input, which is otherwise empty. */
  readonly input?: string;
  /** Milliseconds after which it is killed. Default: five minutes, far beyond what it needs. */
  readonly timeout?: number;
  /** Environment variables, in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A command that failed: its message has the command, its exit code and what it said. */
export class CommandError extends Error {
  readonly said: string;

  constructor(command: string, ended: string, said: string) {
    super(`${command} ${ended}: ${said.trim() === '' ? 'it said nothing' : said.trim()}`);
    this.name = 'CommandError';
    this.said = said;
  }
}

/** Runs a command and returns its standard output. Throws CommandError if it cannot be run, takes too long or fails. */
export function runCommand(
  command: string,
  parameters: readonly string[],
  { input = '', timeout = 300_000, env = {} }: CommandOptions = {},
): Promise<string> {
  const title = shortened([command, ...parameters].join(' '));
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { env: { ...process.env, ...env }, stdio: 'pipe' });
    let [output, said] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const late = setTimeout(() => child.kill('SIGKILL'), timeout);
    child.on('error', ({ message }) => {
      clearTimeout(late);
      reject(new CommandError(title, 'cannot be run', message));
    });
    child.on('close', (code, signal) => {
      clearTimeout(late);
      if (code === 0) resolve(output);
      else if (signal === 'SIGKILL') reject(new CommandError(title, `was killed after ${timeout} ms`, said + output));
      else reject(new CommandError(title, `ended with ${String(code ?? signal)}`, said + output));
    });
    // A command that ends before it has read its input is checked by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

const longest = 300;

function shortened(title: string): string {
  return title.length > longest ? `${title.slice(0, longest)}…` : title;
}
