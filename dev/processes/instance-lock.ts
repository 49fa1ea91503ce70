import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

/** The hold of one process on a state folder. */
export interface InstanceLock {
  /** True if it was taken over from a killed process; the processes which that had started may be ending just now. */
  readonly isTakenOver: boolean;
  release(): void;
}

/** Process that holds a lock. */
export interface Holder {
  readonly pid: number;
  readonly start: string;
}

/**
 * Takes a lock file for this process, also from a process that was killed. Returns the holder's process id instead if a
 * living process has it.
 */
export function takeLock(file: string): InstanceLock | { readonly heldBy: number } {
  const mine = { pid: process.pid, start: processStart(process.pid) ?? '' };
  let isTakenOver = false;
  for (;;) {
    if (create(file, mine)) return { isTakenOver, release: () => release(file, mine) };
    const holder = readHolder(file);
    if (holder !== undefined && processStart(holder.pid) === holder.start) return { heldBy: holder.pid };
    removeStale(file, holder);
    isTakenOver = true;
  }
}

/** Links a finished draft into place, so that nobody reads half a lock; returns false if there is a lock already. */
function create(file: string, holder: Holder): boolean {
  const draft = `${file}.${String(holder.pid)}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('start' in value)) return undefined;
    return typeof value.pid === 'number' && typeof value.start === 'string'
      ? { pid: value.pid, start: value.start }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a stale lock. Two processes may find the same one; a fresh one that is moved away by mistake is put back. */
function removeStale(file: string, stale: Holder | undefined): void {
  const aside = `${file}.stale.${String(process.pid)}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved !== undefined && (moved.pid !== stale?.pid || moved.start !== stale.start)) {
    try {
      linkSync(aside, file);
    } catch {
      // A third one has taken it meanwhile: it will find out in its own turn.
    }
  }
  rmSync(aside, { force: true });
}

function release(file: string, mine: Holder): void {
  const holder = readHolder(file);
  if (holder?.pid === mine.pid && holder.start === mine.start) rmSync(file, { force: true });
}

/**
 * Returns the start of a process, in words of the system that can only be compared; undefined if there is no such
 * process. A process id alone is not enough: the system reuses it.
 */
export function processStart(pid: number): string | undefined {
  if (process.platform === 'linux') return linuxStart(pid);
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

/** Returns the boot id and field 22 of /proc/<pid>/stat (proc(5)), counted after the name, which may hold anything. */
function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${rest[18] ?? ''}`;
  } catch {
    return undefined;
  }
}
