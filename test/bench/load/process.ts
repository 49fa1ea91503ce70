// The load generator: a process of its own, so that its event loop is not the server's. Plans arrive over IPC, one at a
// time; reports go back.
//
// Node and not wrk: measured against the same express (2 cores, 64 connections), wrk spent 17 µs of CPU a request, nearly
// all of it in the kernel, this generator 18 µs, and the servers reached the same rates. It needs no package, it can keep a
// fixed rate (wrk cannot), and it counts each status.
import { LoadRun } from './run.ts';
import type { LoadPlan } from './plan.ts';

process.on('message', (plan: LoadPlan) => {
  void new LoadRun(plan).report().then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
