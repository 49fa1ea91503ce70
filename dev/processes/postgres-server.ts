import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Postgres server that runs on some data. */
export interface FoundServer {
  readonly pid: number;
  readonly port: number;
  /** True if it accepts connections; otherwise it is starting or stopping. */
  readonly isReady: boolean;
}

/** Returns the server on this data. postmaster.pid alone proves nothing: its process id may have been reused. */
export async function serverOf(dataDir: string): Promise<FoundServer | undefined> {
  const text = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  // PostgreSQL's miscadmin.h: line 1 the process id, line 4 the port, line 8 the state.
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!(pid > 0) || !isServing(pid, await realpath(dataDir))) return undefined;
  return { pid, port, isReady: port > 0 && (lines[7]?.startsWith('ready') ?? false) };
}

/** Resolves with the server on this data once it is ready, or with undefined if there is none or it has stopped. */
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

/** Checks whether a process is a Postgres server on this data. */
export function isServing(pid: number, dataDir: string): boolean {
  return process.platform === 'linux' ? isServingLinux(pid, dataDir) : commandOf(pid).includes(dataDir);
}

/** Checks the working folder, which for a Postgres server is its data (a zombie has none). */
function isServingLinux(pid: number, dataDir: string): boolean {
  try {
    return readlinkSync(`/proc/${String(pid)}/cwd`) === dataDir;
  } catch {
    // The process belongs to another user: everybody can read its command line.
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

/** Sends a signal to a process; returns whether it could be sent. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
