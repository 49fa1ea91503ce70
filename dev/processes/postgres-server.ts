import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
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

/** A user and a group by their numbers. */
interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** The account that Postgres runs under, and the command line that runs a program under it. */
export interface PostgresAccount {
  /** New owner of the files; undefined: our own account. */
  readonly owner: Ids | undefined;
  /** Account to start a process under; undefined: our own, or the command itself changes it. */
  readonly ids: Ids | undefined;
  /** Returns the program and arguments that start `program` under the account. */
  command(program: string, args: readonly string[]): { readonly program: string; readonly args: readonly string[] };
}

/**
 * Chooses the account for Postgres, which refuses to run as root: then it runs as the owner of the data, or as the user
 * `postgres`. If that user cannot pass through the folders above the programs or the data (a checkout below /root), it
 * keeps one capability of root's to pass through them, CAP_DAC_OVERRIDE.
 */
export function postgresAccount(dataDir: string, programs: readonly string[]): PostgresAccount {
  const plain = (program: string, args: readonly string[]) => ({ program, args });
  if (process.getuid?.() !== 0) return { owner: undefined, ids: undefined, command: plain };
  const ids = ownerOf(dataDir) ?? postgresUser();
  const isReachable = [dataDir, ...programs].every((file) => mayPass(path.dirname(file), ids));
  if (isReachable) return { owner: ids, ids, command: plain };
  const drop = [`--reuid=${String(ids.uid)}`, `--regid=${String(ids.gid)}`, '--clear-groups'];
  const keep = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return {
    owner: ids,
    ids: undefined,
    command: (program, args) => ({ program: 'setpriv', args: [...drop, ...keep, '--', program, ...args] }),
  };
}

/** Returns the owner of data that is there already; undefined for root. */
function ownerOf(dataDir: string): Ids | undefined {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

/** Returns the user `postgres`, and creates it if it is missing. */
function postgresUser(): Ids {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'pipe' });
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Checks whether an account may pass through a folder and all above it. */
function mayPass(folder: string, { uid, gid }: Ids): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found !== undefined) {
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
  }
  const parent = path.dirname(folder);
  return parent === folder || mayPass(parent, { uid, gid });
}
