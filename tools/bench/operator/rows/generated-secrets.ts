import { againstBare } from '../against-bare.ts';
import { bareGroup } from '../bare-kinds.ts';
import { startBareWriter } from '../bare.ts';
import { createMany, newBox, timeBatch } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { seconds } from '../figures.ts';
import { kubeApi } from '../kube.ts';
import { generated, pathOf } from '../objects.ts';
import { watchReady } from '../ready.ts';
import { writesOfOperator } from '../writes.ts';
import type { OperatorScenario } from '../scenario.ts';

/** Many clients at once, each with a Secret that is made for it, beside somebody who only makes the same writes. */
export const generatedSecrets: OperatorScenario = {
  name: 'generated-secrets',
  run: (context) =>
    onCluster(context, async (cluster) => {
      const count = context.small ? 100 : 1_000;
      await cluster.operator();
      const what =
        '1,000 Clients with generated secrets created over 32 connections, until each is Ready, against a bare writer of the same writes';
      const row = await againstBare(what, 1.3, context.rounds, async () => {
        const { taken, live, ready } = await timeBatch(cluster, await newBox(cluster), count, () => generated);
        const bare = await timeBare(cluster, count);
        context.say(`  taken ${seconds(taken)}, live ${seconds(live)}, Ready ${seconds(ready)}; bare ${seconds(bare)}`);
        return { ours: ready, bare };
      });
      return [row];
    }),
};

async function timeBare(cluster: BenchCluster, count: number): Promise<number> {
  const box = await newBox(cluster);
  const writer = await startBareWriter(cluster, ['clients'], await writesOfOperator(cluster, 'clients'), box);
  const watching = await watchReady(kubeApi(cluster.plane.kubeconfig), [pathOf('clients', box, bareGroup)], count);
  const begin = performance.now();
  await createMany(cluster, 'clients', box, count, () => generated, bareGroup);
  const end = await watching.all;
  await writer.stop();
  return end - begin;
}
