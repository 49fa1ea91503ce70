import { system } from './installation.ts';
import { kubectl, textAt, readObject } from './kubectl.ts';

/**
 * Returns the resident memory of each of some pods in MiB: VmRSS of the first process of the first container, which the
 * image's own Node.js reads.
 */
export async function idleMemory(pods: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const pod of pods) found.set(pod, await memoryOf(pod));
  return found;
}

async function memoryOf(pod: string): Promise<number> {
  const { status: status } = await readObject({ object: `pod/${pod}`, namespace: system });
  if (textAt(status, 'phase') !== 'Running') throw new Error(`the pod ${pod} does not run`);
  const read = "process.stdout.write(require('fs').readFileSync('/proc/1/status', 'utf8'))";
  const text = await kubectl('exec', pod, '--namespace', system, '--', 'node', '-e', read);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(text) ?? [];
  if (kilobytes === undefined) throw new Error(`the process of ${pod} tells no memory: ${text}`);
  return Number(kilobytes) / 1024;
}
