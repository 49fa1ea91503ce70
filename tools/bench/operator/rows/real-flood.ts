import { randomBytes } from 'node:crypto';
import { API_GROUP } from '../../../../crds/kind.ts';
import { whole } from '../../figures.ts';
import { medianRatio } from '../../median.ts';
import { verdictOf, type Row } from '../../scenario.ts';
import { bareGroup } from '../bare-kinds.ts';
import { newBox } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { quantile, times } from '../figures.ts';
import { create, demand, generated, pathOf } from '../objects.ts';
import { passesOf } from '../passes.ts';
import { startProber, type Prober } from '../prober.ts';
import type { OperatorContext, OperatorScenario } from '../scenario.ts';

/** Connections that change the one object: more are not taken faster. */
const connections = 8;

/** One object changes as fast as a real API server takes it, and others have to wait no longer for it. */
export const realFlood: OperatorScenario = {
  name: 'real-flood',
  run: (context) =>
    onCluster(context, async (cluster) => {
      const operator = await cluster.operator();
      const box = await newBox(cluster);
      await create(cluster.plane, 'clients', box, 'one', generated);
      await create(cluster.plane, 'clients', box, 'one', generated, bareGroup);
      const prober = await startProber(cluster, await newBox(cluster));
      await prober.probe('first');
      const row = await measure(context, cluster, box, prober, operator.healthUrl);
      prober.end();
      return [row];
    }),
};

/** The control run changes an object that the operator does not look at: the API server has as much to do. */
async function measure(
  context: OperatorContext,
  cluster: BenchCluster,
  box: string,
  prober: Prober,
  healthUrl: string,
): Promise<Row> {
  const seconds = context.small ? 2 : 4;
  const [control, flooded]: [number[], number[]] = [[], []];
  let [updates, passes] = [0, 0];
  for (let round = 0; round < context.rounds; round += 1) {
    const alone = await underFlood(cluster, box, bareGroup, prober, seconds);
    control.push(alone.p50);
    const before = await passesOf(healthUrl);
    const result = await underFlood(cluster, box, API_GROUP, prober, seconds);
    passes += (await passesOf(healthUrl)) - before;
    updates += result.updates;
    flooded.push(result.p50);
    context.say(`  ${result.updates} updates; others ${result.p50.toFixed(1)} ms, control ${alone.p50.toFixed(1)} ms`);
  }
  const ratio = medianRatio(flooded, control);
  return {
    what: 'one Client changed over 8 connections, as fast as the API server takes it: passes of all boxes, and create to token in another box against a control run',
    goal: 'fewer than changes, <= 2 times',
    figure: `${whole(passes)} for ${whole(updates)}, ${times(ratio)} (p50 ${(flooded.at(-1) ?? NaN).toFixed(0)} ms)`,
    verdict: verdictOf(passes < updates && ratio <= 2),
  };
}

async function underFlood(
  cluster: BenchCluster,
  box: string,
  group: string,
  prober: Prober,
  seconds: number,
): Promise<{ readonly updates: number; readonly p50: number }> {
  let [updates, isOver] = [0, false];
  const path = `${pathOf('clients', box, group)}/one`;
  const changing = Array.from({ length: connections }, async () => {
    while (!isOver) {
      updates += 1;
      const body = { spec: { description: `change ${randomBytes(6).toString('hex')}` } };
      await demand(cluster.plane, 200, { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    }
  });
  const took: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    took.push((await prober.probe(`probe-${randomBytes(4).toString('hex')}`)).token);
  }
  isOver = true;
  await Promise.all(changing);
  return { updates, p50: quantile(took, 0.5) };
}
