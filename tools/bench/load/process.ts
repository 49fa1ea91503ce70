// The load generator: a process of its own, so that its event loop is not the server's. Plans arrive over IPC, one at a
// time; reports go back.
//
// Node and not wrk: measured against the same express (2 cores, 64 connections), wrk spent 17 µs of CPU a request,
// nearly all of it in the kernel, this generator 18 µs, and the servers reached the same rates. It needs no package, it
// can keep a fixed rate (wrk cannot), and it counts each status.
import { runFlows } from './code-flow.ts';
import type { FlowPlan, LoadPlan, LoadReport } from './plan.ts';
import { LoadRun } from './run.ts';

process.on('message', (plan: LoadPlan | FlowPlan) => {
  // A flow that was answered wrong ends the process, and so the bench: its error is printed.
  void carryOut(plan).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));

function carryOut(plan: LoadPlan | FlowPlan): Promise<LoadReport> {
  return 'people' in plan ? runFlows(plan) : new LoadRun(plan).report();
}
