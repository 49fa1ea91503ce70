import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { residentOf } from './machine/process-usage.ts';

/** `boxgate dev` on a folder, in a process of its own. */
export interface DevRun {
  readonly pid: number;
  /** Ends with the exit code. */
  readonly ended: Promise<number>;
  /** The highest resident memory seen so far, bytes: the process and all below it. */
  highest(): number;
  /** Waits until standard output has this text, and returns all of it. */
  printed(text: string): Promise<string>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('../../dev/main.ts', import.meta.url));
/** Interval of memory samples, in milliseconds. */
const lookEvery = 100;

/** Starts it on a database that is there; `options` such as `--once` come after the folder. */
export async function startDev(folder: string, databaseUrl: string, options: readonly string[]): Promise<DevRun> {
  const state = await mkdtemp(path.join(tmpdir(), 'boxgate-bench-state-'));
  const ports = ['--port', '0', '--management-port', '0'];
  const args = [program, 'dev', folder, '--state', state, '--database-url', databaseUrl, ...ports, ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const pid = child.pid ?? 0;
  let highest = 0;
  const looking = setInterval(() => (highest = Math.max(highest, residentOf([pid]))), lookEvery);
  const ended = exitCode(child).finally(async () => {
    clearInterval(looking);
    process.removeListener('exit', kill);
    await rm(state, { recursive: true, force: true });
  });
  return {
    pid,
    ended,
    highest: () => highest,
    printed: lookFor(child),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function exitCode(child: ChildProcess): Promise<number> {
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

function lookFor(child: ChildProcess): (text: string) => Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return (text) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.includes(text)) resolve(output);
      };
      child.stdout?.on('data', look);
      child.once('exit', () =>
        reject(new Error(`boxgate dev ended before it printed "${text}":\n${output.slice(-2000)}`)),
      );
      look();
    });
}
