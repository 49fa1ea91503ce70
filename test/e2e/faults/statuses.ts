import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A watch of the Ready conditions in a namespace. */
export interface FollowedStatuses {
  /** Ends the watch and returns each object and status that was not Ready at some time. */
  stop(): Promise<readonly string[]>;
}

/** Watches the Ready condition of every object of a box. */
export function followStatuses(namespace: string): FollowedStatuses {
  const condition = '{.kind} {.metadata.name} {.status.conditions[?(@.type=="Ready")].status}';
  const kinds = ['boxes', 'clients', 'accesspolicies'];
  const seen: string[] = [];
  const watches = kinds.map((kind) => {
    const parameters = ['get', kind, '--namespace', namespace, '--watch', '--output', `jsonpath=${condition}{"\\n"}`];
    const child = spawn('kubectl', parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.endsWith(' True')) seen.push(line);
    });
    return { child, closed };
  });
  return {
    async stop() {
      for (const { child } of watches) child.kill();
      await Promise.all(watches.map(({ closed }) => closed));
      return seen;
    },
  };
}
