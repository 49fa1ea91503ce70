import { againstBare } from '../against-bare.ts';
import { bareGroup } from '../bare-kinds.ts';
import { startBareWriter } from '../bare.ts';
import { createMany, newBox } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { seconds } from '../figures.ts';
import { kubeApi } from '../kube.ts';
import { pathOf } from '../objects.ts';
import { watchReady } from '../ready.ts';
import type { OperatorScenario } from '../scenario.ts';
import { writesOfOperator } from '../writes.ts';

/** Objects that need nothing but their row and their status, beside somebody who only writes the statuses. */
export const statuses: OperatorScenario = {
  name: 'statuses',
  run: (context) =>
    onCluster(context, async (cluster) => {
      const count = context.small ? 100 : 1_000;
      await cluster.operator();
      const what =
        '1,000 policies applied, until a watch has seen each Ready, against a bare writer of their finalizers and statuses';
      const row = await againstBare(what, 1.5, context.rounds, async () => {
        const ours = await time(cluster, await newBox(cluster), count);
        const bare = await timeBare(cluster, count);
        context.say(`  Ready ${seconds(ours)}; bare ${seconds(bare)}`);
        return { ours, bare };
      });
      return [row];
    }),
};

async function timeBare(cluster: BenchCluster, count: number): Promise<number> {
  const box = await newBox(cluster);
  const writes = await writesOfOperator(cluster, 'accesspolicies');
  const writer = await startBareWriter(cluster, ['accesspolicies'], writes, box);
  const took = await time(cluster, box, count, bareGroup);
  await writer.stop();
  return took;
}

/** Milliseconds from the first create until each was seen Ready. */
async function time(cluster: BenchCluster, box: string, count: number, group?: string): Promise<number> {
  const watching = await watchReady(kubeApi(cluster.plane.kubeconfig), [pathOf('accesspolicies', box, group)], count);
  const begin = performance.now();
  await createMany(cluster, 'accesspolicies', box, count, () => ({ engine: 'allow' }), group);
  return (await watching.all) - begin;
}
