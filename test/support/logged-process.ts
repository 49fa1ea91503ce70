import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { Environment } from '../../program/environment.ts';
import { inherited } from './child-program.ts';
import { demandNoSecrets } from './secrets-in.ts';

/** A program of ours in a process of its own, with what it says. */
export interface LoggedProcess {
  readonly pid: number;
  /** Lines of its standard output and standard error. */
  readonly lines: readonly string[];
  /** Resolves when the process is gone: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly hasEnded: () => boolean;
  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end. Throws when it does not end in time, and when a secret is in the log. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Milliseconds in which a program begins or ends, on a slow machine too. */
const patience = 120_000;

/**
 * Starts `node <args>` and waits for the line in which `find` finds what it looks for. Throws with what the program
 * said when it ends instead, or neither in time. It may watch descriptor 3 (BOXGATE_PARENT_PIPE), which ends with this
 * process. A wrapper is a command that takes another one as its last arguments, and runs it in its place.
 */
export async function startLoggedProcess<T>(
  args: readonly string[],
  environment: Environment,
  find: (line: string) => T | undefined,
  wrapper: readonly string[] = [],
): Promise<LoggedProcess & { readonly found: T }> {
  const [command = process.execPath, ...parameters] = [...wrapper, process.execPath, ...args];
  const child = spawn(command, parameters, {
    // The last pipe is never written: it ends with this process, however that ends.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...inherited, BOXGATE_PARENT_PIPE: '3', ...environment },
  });
  const lines: string[] = [];
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode ?? 'SIGKILL');
  const looked = new Promise<T>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        const found = find(line);
        if (found !== undefined) resolve(found);
      });
    }
  });
  /** Kills a program that does not do in time what is waited for, and throws with what it said. */
  const inTime = async <R>(wanted: Promise<R>, what: string): Promise<R> => {
    const over = new AbortController();
    const late = setTimeout(patience, undefined, over).then((): never => {
      child.kill('SIGKILL');
      throw new Error(`${args.join(' ')} did not ${what}: ${lines.join('\n')}`);
    });
    try {
      return await Promise.race([wanted, late]);
    } finally {
      late.catch(() => undefined);
      over.abort();
    }
  };
  const endedEarly = ended.then((how): never => {
    throw new Error(`${args.join(' ')} ended at its start (${String(how)}): ${lines.join('\n')}`);
  });
  const found = await inTime(Promise.race([looked, endedEarly]), 'begin');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${args.join(' ')} has no process`);
  return {
    pid,
    lines,
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    found,
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      child.kill(signal);
      const how = await inTime(ended, `end after ${signal}`);
      demandNoSecrets(lines);
      return how;
    },
  };
}
