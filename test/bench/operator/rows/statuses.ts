import { median, medianRatio } from '../../median.ts';
import { judged } from '../../scenario.ts';
import { bareGroup } from '../bare-kinds.ts';
import { startBareWriter } from '../bare.ts';
import { createMany, newBox } from '../batch.ts';
import { startCluster, type BenchCluster } from '../cluster.ts';
import { seconds, times } from '../figures.ts';
import { kubeApi } from '../kube.ts';
import { pathOf } from '../objects.ts';
import { watchReady } from '../ready.ts';
import type { OperatorScenario } from '../scenario.ts';
import { writesOfOperator } from '../writes.ts';

/** Objects that need nothing but their row and their status, beside somebody who only writes the statuses. */
export const statuses: OperatorScenario = {
  name: 'statuses',
  async run(context) {
    const count = context.small ? 100 : 1_000;
    const cluster = await startCluster(context);
    try {
      await cluster.operator();
      const [ours, bare]: [number[], number[]] = [[], []];
      for (let round = 0; round < context.rounds; round += 1) {
        ours.push(await time(cluster, await newBox(cluster), count));
        const box = await newBox(cluster);
        const writer = await startBareWriter(
          cluster,
          ['accesspolicies'],
          await writesOfOperator(cluster, 'accesspolicies'),
          box,
        );
        bare.push(await time(cluster, box, count, bareGroup));
        await writer.stop();
        context.say(`  Ready ${seconds(ours.at(-1) ?? 0)}; bare ${seconds(bare.at(-1) ?? 0)}`);
      }
      const ratio = medianRatio(ours, bare);
      return [
        {
          what: '1,000 policies applied, until a watch has seen each Ready, against a bare writer of their finalizers and statuses',
          goal: '<= 1.5 times',
          figure: `${times(ratio)} (${seconds(median(ours))} of ${seconds(median(bare))})`,
          verdict: judged(ratio <= 1.5),
        },
      ];
    } finally {
      await cluster.stop();
    }
  },
};

/** Milliseconds from the first create until each was seen Ready. */
async function time(cluster: BenchCluster, box: string, count: number, group?: string): Promise<number> {
  const watching = await watchReady(kubeApi(cluster.plane.kubeconfig), [pathOf('accesspolicies', box, group)], count);
  const begin = performance.now();
  await createMany(cluster, 'accesspolicies', box, count, () => ({ engine: 'allow' }), group);
  return (await watching.all) - begin;
}
