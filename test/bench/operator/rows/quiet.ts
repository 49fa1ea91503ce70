import { setTimeout as pause } from 'node:timers/promises';
import { whole } from '../../figures.ts';
import { judged } from '../../scenario.ts';
import { atOnce } from '../at-once.ts';
import { auditLog, writesBetween } from '../audit.ts';
import { createMany } from '../batch.ts';
import { startCluster, type BenchCluster } from '../cluster.ts';
import { kubeApi } from '../kube.ts';
import { generated, pathOf, policyFor } from '../objects.ts';
import { watchReady } from '../ready.ts';
import type { OperatorScenario } from '../scenario.ts';

/** Seconds; so that much more happens in a minute than else in ten. */
const periods = { BOXGATE_SWEEP_SECONDS: '2', BOXGATE_RELIST_SECONDS: '5' };
/** Milliseconds: an idle backend's statistics reach the views ten seconds later (PostgreSQL manual, "Cumulative Statistics System"). */
const settling = 12_000;

/** Nothing changes: then nothing is written. */
export const quiet: OperatorScenario = {
  name: 'quiet',
  async run(context) {
    const log = await auditLog();
    const cluster = await startCluster({ ...context, flags: log.flags });
    try {
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
      const rows = (await rowsWritten(cluster)) - rowsBefore;
      context.say(`  writes ${JSON.stringify([...writes])}`);
      const count = [...writes.values()].reduce((sum, more) => sum + more, 0);
      return [
        {
          what: 'nothing changes while everything is compared 30 times and listed 12 times (ten minutes, in periods of 2 s and 5 s): writes to the Kubernetes API but those of the lease, rows written in Postgres',
          goal: 'none',
          figure: `${whole(count)}, ${whole(rows)}`,
          verdict: judged(count + rows === 0),
        },
      ];
    } finally {
      await cluster.stop();
      await log.remove();
    }
  },
};

async function rowsWritten(cluster: BenchCluster): Promise<number> {
  const [row] = await cluster.query<{ n: number }>(
    `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::int AS n FROM pg_stat_user_tables WHERE schemaname = 'boxgate'`,
  );
  return row?.n ?? 0;
}
