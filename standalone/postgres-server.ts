import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Postgres server that runs on some data. */
export interface FoundServer {
  readonly pid: number;
  readonly port: number;
  /** It accepts connections; else it is starting or stopping. */
  readonly isReady: boolean;
}

/** The server that runs on this data now. postmaster.pid alone proves nothing: its process id may be another's by now. */
export async function serverOf(dataDir: string): Promise<FoundServer | undefined> {
  const text = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  // PostgreSQL's miscadmin.h: line 1 the process id, line 4 the port, line 8 the state.
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!(pid > 0) || !isServing(pid, await realpath(dataDir))) return undefined;
  return { pid, port, isReady: port > 0 && (lines[7]?.startsWith('ready') ?? false) };
}

/** The server on this data once it is ready; undefined when there is none, or when the one that was there has stopped. */
export async function waitForServer(dataDir: string, timeout: number): Promise<FoundServer | undefined> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const found = await serverOf(dataDir);
    if (found === undefined || found.isReady) return found;
    if (performance.now() > deadline) {
      throw new Error(`The Postgres server that was left behind (process ${String(found.pid)}) is not ready`);
    }
    await sleep(50);
  }
}

/** Whether a process is a Postgres server on this data. */
export function isServing(pid: number, dataDir: string): boolean {
  return process.platform === 'linux' ? isServingLinux(pid, dataDir) : commandOf(pid).includes(dataDir);
}

/** A Postgres server's working folder is its data (a zombie has none). */
function isServingLinux(pid: number, dataDir: string): boolean {
  try {
    return readlinkSync(`/proc/${String(pid)}/cwd`) === dataDir;
  } catch {
    // Somebody else's process: its command line is there for all to read.
    return commandLine(pid).includes(dataDir);
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
  } catch {
    return '';
  }
}

/** Sends a signal to a process; whether there was one. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
