import { readFileSync } from 'node:fs';

/** Resident memory of a process, bytes: now, and the most it ever had (VmRSS and VmHWM of proc(5)). */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}
