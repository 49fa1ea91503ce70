import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
