import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FlowPlan, LoadPlan, LoadReport } from './plan.ts';

/** A running load generator. It takes one plan at a time; two at once need two generators. */
export type LoadGenerator = { run(plan: LoadPlan | FlowPlan): Promise<LoadReport>; stop(): void };

const program = fileURLToPath(new URL('process.ts', import.meta.url));

/** Starts a generator. It ends when stopped and when this process does. */
export function startLoad(): LoadGenerator {
  const child = fork(program);
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the load generator ended with ${String(code)}`);
  });
  gone.catch(() => undefined);
  return {
    async run(plan) {
      child.send(plan);
      const messages: unknown[] = await Promise.race([once(child, 'message'), gone]);
      const report = messages[0];
      if (!isReport(report)) throw new Error('the load generator sent something that is no report');
      return report;
    },
    stop: () => child.disconnect(),
  };
}

/** Both ends are this folder's code: one look tells a report from a stray message. */
function isReport(value: unknown): value is LoadReport {
  return typeof value === 'object' && value !== null && 'perSecond' in value;
}
