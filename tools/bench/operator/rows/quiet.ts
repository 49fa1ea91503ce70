import { setTimeout as pause } from 'node:timers/promises';
import { whole } from '../../figures.ts';
import { verdictOf } from '../../scenario.ts';
import { atOnce } from '../at-once.ts';
import { onAuditedCluster, writesBetween } from '../audit.ts';
import { createMany } from '../batch.ts';
import type { BenchCluster } from '../cluster.ts';
import { kubeApi } from '../kube.ts';
import { generated, pathOf, policyFor } from '../objects.ts';
import { watchReady } from '../ready.ts';
import type { OperatorScenario } from '../scenario.ts';

/** Seconds; so that much more happens in a minute than else in ten. */
const periods = { BOXGATE_SWEEP_SECONDS: '2', BOXGATE_RELIST_SECONDS: '5' };
/**
 * Milliseconds: an idle backend's statistics reach the views ten seconds later (PostgreSQL manual, "Cumulative
 * Statistics System").
 */
const settling = 12_000;

/** Nothing changes: then nothing is written. */
export const quiet: OperatorScenario = {
  name: 'quiet',
  run: (context) =>
    onAuditedCluster(context, async (cluster, log) => {
      const perBox = context.small ? 5 : 20;
      const boxes = await cluster.boxes(5);
      const kube = kubeApi(cluster.plane.kubeconfig);
      const watching = await watchReady(kube, [pathOf('clients'), pathOf('accesspolicies')], 2 * perBox * boxes.length);
      await cluster.operator(periods);
      await atOnce(5, boxes, async (box) => {
        await createMany(cluster, 'clients', box, perBox, () => generated);
        await createMany(cluster, 'accesspolicies', box, perBox, policyFor);
      });
      await watching.all;
      await pause(settling);
      const [kubeBefore, rowsBefore] = [await log.writes(), await rowsWritten(cluster)];
      await pause(context.small ? 15_000 : 60_000);
      const writes = writesBetween(kubeBefore, await log.writes());
      const rows = writesBetween(rowsBefore, await rowsWritten(cluster));
      context.say(`  writes ${JSON.stringify([...writes])}, rows ${JSON.stringify([...rows])}`);
      return [
        {
          what: "nothing changes while everything is compared 30 times and listed 12 times (ten minutes, in periods of 2 s and 5 s): writes to the Kubernetes API without the lease's, rows written in Postgres",
          goal: 'none',
          figure: `${whole(sum(writes))}, ${whole(sum(rows))}`,
          verdict: verdictOf(sum(writes) + sum(rows) === 0),
        },
      ];
    }),
};

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, more) => all + more, 0);
}

/** By table. */
async function rowsWritten(cluster: BenchCluster): Promise<ReadonlyMap<string, number>> {
  const rows = await cluster.query<{ table: string; written: number }>(
    `SELECT relname AS table, (n_tup_ins + n_tup_upd + n_tup_del)::int AS written
       FROM pg_stat_user_tables WHERE schemaname = 'boxgate'`,
  );
  return new Map(rows.map(({ table, written }) => [table, written]));
}
