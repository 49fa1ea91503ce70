import { spawn } from 'node:child_process';

/** Settings of a run. */
export interface RunOptions {
  /** Name of the run in an error; otherwise its command and parameters. */
  readonly title?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a program until it has ended. Throws if it cannot be run, or ends with another code than 0. */
export function runProgram(
  command: string,
  parameters: readonly string[],
  { title = [command, ...parameters].join(' '), cwd, env }: RunOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('error', (cause) => reject(new Error(`${command} cannot be run`, { cause })));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${title} ended with ${String(code ?? signal)}`));
    });
  });
}
