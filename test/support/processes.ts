import { readFileSync, readdirSync } from 'node:fs';

/** A process and everything that it and its children have started and that still runs. */
export function familyOf(pid: number): readonly number[] {
  const parents = new Map(
    readdirSync('/proc')
      .map(Number)
      .filter(Number.isInteger)
      .map((one) => [one, parentOf(one)]),
  );
  const family = [pid];
  for (const parent of family) {
    for (const [child, its] of parents) if (its === parent) family.push(child);
  }
  return family;
}

function parentOf(pid: number): number | undefined {
  try {
    // proc(5): the name, in parentheses, may hold anything; then the state, then the parent.
    return Number(
      readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
        .split(') ')
        .at(-1)
        ?.split(' ')[1],
    );
  } catch {
    return undefined;
  }
}

/** Checks whether a process is running; a zombie is not. */
export function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${String(pid)}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** Sends a signal to processes, of which some may have ended meanwhile. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    // 0 and less are whole groups, our own among them.
    if (pid <= 0) throw new RangeError('no process id');
    try {
      process.kill(pid, signal);
    } catch {
      // It ended meanwhile.
    }
  }
}
