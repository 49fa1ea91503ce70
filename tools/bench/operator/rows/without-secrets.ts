import { median } from '../../median.ts';
import { verdictOf } from '../../scenario.ts';
import { newBox, timeBatch } from '../batch.ts';
import { onCluster } from '../cluster.ts';
import { seconds } from '../figures.ts';
import { withKeys } from '../objects.ts';
import type { OperatorScenario } from '../scenario.ts';

/** Many clients at once that sign in with keys. */
export const withoutSecrets: OperatorScenario = {
  name: 'without-secrets',
  run: (context) =>
    onCluster(context, async (cluster) => {
      const count = context.small ? 100 : 1_000;
      await cluster.operator();
      const after: number[] = [];
      for (let round = 0; round < context.rounds; round += 1) {
        const times = await timeBatch(cluster, await newBox(cluster), count, () => withKeys);
        context.say(`  taken ${seconds(times.taken)}, live ${seconds(times.live)}, Ready ${seconds(times.ready)}`);
        after.push(times.live - times.taken);
      }
      return [
        {
          what: '1,000 Clients with keys created over 32 connections: all live after the API server took the last',
          goal: '< 2 s',
          figure: `${seconds(median(after))} (longest ${seconds(Math.max(...after))})`,
          verdict: verdictOf(median(after) < 2_000),
        },
      ];
    }),
};
