import { median, medianRatio } from '../../median.ts';
import { judged } from '../../scenario.ts';
import { bareGroup } from '../bare-kinds.ts';
import { startBareWriter } from '../bare.ts';
import { createMany, newBox, timeBatch } from '../batch.ts';
import { startCluster, type BenchCluster } from '../cluster.ts';
import { seconds, times } from '../figures.ts';
import { kubeApi } from '../kube.ts';
import { generated, pathOf } from '../objects.ts';
import { watchReady } from '../ready.ts';
import { writesOfOperator } from '../writes.ts';
import type { OperatorScenario } from '../scenario.ts';

/** Many clients at once, each with a Secret that is made for it, beside somebody who only makes the same writes. */
export const generatedSecrets: OperatorScenario = {
  name: 'generated-secrets',
  async run(context) {
    const count = context.small ? 100 : 1_000;
    const cluster = await startCluster(context);
    try {
      await cluster.operator();
      const ours: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < context.rounds; round += 1) {
        const batch = await timeBatch(cluster, await newBox(cluster), count, () => generated);
        ours.push(batch.ready);
        bare.push(await timeBare(cluster, count));
        const { taken, live, ready } = batch;
        context.say(
          `  taken ${seconds(taken)}, live ${seconds(live)}, Ready ${seconds(ready)}; bare ${seconds(bare.at(-1) ?? 0)}`,
        );
      }
      const ratio = medianRatio(ours, bare);
      return [
        {
          what: '1,000 Clients with generated secrets created over 32 connections, until each is Ready, against a bare writer of the same writes',
          goal: '<= 1.3 times',
          figure: `${times(ratio)} (${seconds(median(ours))} of ${seconds(median(bare))})`,
          verdict: judged(ratio <= 1.3),
        },
      ];
    } finally {
      await cluster.stop();
    }
  },
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
