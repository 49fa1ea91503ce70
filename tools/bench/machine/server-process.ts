import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A server under measurement, in a process of its own. */
export type ServerProcess = {
  pid: number;
  /** Members of the server's `listening` line, including `port`. */
  listening: Record<string, unknown>;
  port: number;
  stop(): Promise<void>;
};

/** Longest wait for the `listening` line, milliseconds. */
const startTime = 60_000;

/**
 * Starts a program with this Node and waits for its line `{"msg":"listening","port":…}`. Its output is read and dropped
 * after that, so that a full pipe never slows it.
 */
export async function startServer(args: string[], environment: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const listening = await listeningLine(child.stdout, args);
  return {
    pid: child.pid ?? 0,
    listening,
    port: Number(listening['port']),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      process.off('exit', end);
    },
  };
}

function listeningLine(output: NodeJS.ReadableStream, args: string[]): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const seen: string[] = [];
    const lines = createInterface({ input: output });
    const fail = (): void => reject(new Error(`${args.join(' ')} does not listen:\n${seen.slice(-20).join('\n')}`));
    const timer = setTimeout(fail, startTime);
    lines.on('close', fail);
    lines.on('line', (line) => {
      if (seen.length < 1000) seen.push(line);
      const found = asListening(line);
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
      lines.close();
      output.resume();
    });
  });
}

function asListening(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return undefined;
    const fields: Record<string, unknown> = { ...value };
    return fields['msg'] === 'listening' ? fields : undefined;
  } catch {
    return undefined;
  }
}
