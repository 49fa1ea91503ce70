import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in /proc/<pid>/stat: USER_HZ, 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/**
 * CPU of these processes and all below them since they began, milliseconds, user and system. What children that ended
 * have used is in their parent's account (Postgres backends come and go).
 */
export function cpuOf(roots: number[]): number {
  const stats = allStats();
  const ticks = treeOf(roots, stats).reduce((sum, pid) => sum + (stats.get(pid)?.ticks ?? 0), 0);
  return (ticks * 1000) / ticksPerSecond;
}

/** Resident memory of these processes and all below them, bytes. Pages that they share are counted once for each. */
export function residentOf(roots: number[]): number {
  return treeOf(roots, allStats()).reduce((sum, pid) => sum + residentBytes(pid), 0);
}

type Stat = { parent: number; ticks: number };

function treeOf(roots: number[], stats: Map<number, Stat>): number[] {
  const tree = new Set(roots.filter((pid) => stats.has(pid)));
  // A child can have a smaller pid than its parent: go round until nothing is added.
  for (let before = -1; before !== tree.size;) {
    before = tree.size;
    for (const [pid, { parent }] of stats) if (tree.has(parent)) tree.add(pid);
  }
  return [...tree];
}

function allStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    const text = /^\d+$/.test(entry) ? readOrNothing(`/proc/${entry}/stat`) : '';
    // The command's name is in brackets and may hold anything: count the fields from its end (proc(5)).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields.length < 15) continue;
    const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
    stats.set(Number(entry), {
      parent: Number(fields[1]),
      ticks: (utime ?? 0) + (stime ?? 0) + (cutime ?? 0) + (cstime ?? 0),
    });
  }
  return stats;
}

function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readOrNothing(`/proc/${pid}/status`));
  return Number(line?.[1] ?? 0) * 1024;
}

/** A process may end between the listing and the read. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
