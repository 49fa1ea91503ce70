import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { eventually } from './eventually.ts';

/** A program of others in a process of its own. */
export interface ChildProgram {
  /** Its standard output. */
  readonly output: Readable;
  /** Returns what it has written to its standard output and standard error so far, or why it could not be started. */
  said(): string;
  hasEnded(): boolean;
  /** Writes to its standard input; does nothing after it has ended. */
  write(text: string): void;
  /** Ends it, and waits until it has ended. */
  stop(): Promise<void>;
}

/** Milliseconds in which a program ends after SIGTERM; then it is killed. */
const patience = 10_000;

const { PATH, NODE_COMPILE_CACHE } = process.env;

/** Variables that each program inherits from the tests. Compiled code is kept: a start takes half of the time. */
export const inherited = { PATH, NODE_COMPILE_CACHE };

/**
 * Starts a program with an environment, to which the PATH is added, in a folder. It may fail to start: see `hasEnded`
 * and `said`.
 */
export function startChild(
  command: string,
  parameters: readonly string[],
  { env, cwd }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string },
): ChildProgram {
  const child = spawn(command, parameters, { cwd, env: { ...inherited, ...env }, stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  // A program that ends while it is written to is seen by hasEnded.
  child.stdin.on('error', () => undefined);
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
    // Without a listener, a command that does not exist would end this process.
    child.on('error', ({ message }) => {
      said += message;
      resolve();
    });
  }).then(() => {
    hasEnded = true;
  });
  return {
    output: child.stdout,
    said: () => said,
    hasEnded: () => hasEnded,
    write: (text) => void child.stdin.write(text),
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), patience);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Waits until a program is ready. Throws with what it said if it ends instead, or is not ready in time. */
export async function untilReady(
  program: ChildProgram,
  name: string,
  isReady: () => Promise<boolean> | boolean,
): Promise<void> {
  await eventually(`${name} is ready, or has ended`, async () => program.hasEnded() || (await isReady()));
  if (program.hasEnded()) throw new Error(`${name} has ended: ${program.said()}`);
}
