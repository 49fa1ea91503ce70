import { isObject } from '../../../../crds/json-value.ts';
import { verdictOf, type Row } from '../../scenario.ts';
import { createMany, newBox } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { quantile } from '../figures.ts';
import { enforced } from '../live.ts';
import { generated } from '../objects.ts';
import { startProber, type Probe, type Prober } from '../prober.ts';
import type { OperatorContext, OperatorScenario } from '../scenario.ts';

/** One Client made, until its Secret gets a token, in a small box and in a large one. */
export const createToToken: OperatorScenario = {
  name: 'create-to-token',
  run: (context) =>
    onCluster(context, async (cluster) => {
      await cluster.operator();
      const sizes = context.small ? [20, 500] : [100, 10_000];
      const [few = 0, many = 0] = sizes;
      return [await row(context, cluster, few, 50), await row(context, cluster, many, 150)];
    }),
};

async function row(context: OperatorContext, cluster: BenchCluster, size: number, goal: number): Promise<Row> {
  const box = await newBox(cluster);
  await createMany(cluster, 'clients', box, size, () => generated);
  await enforced(cluster, size, box);
  await statusesWritten(cluster, box);
  const probes = await probe(cluster, box, context.small ? 20 : 100);
  const times = probes.map(({ token }) => token);
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  const secret = quantile(
    probes.map((one) => one.secret),
    0.5,
  );
  return {
    what: `create of one Client answered, until its generated Secret gets a token; ${size.toLocaleString('en-US')} clients in the box`,
    goal: `p50 < ${goal} ms, p99 < 250 ms`,
    figure: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (Secret seen p50 ${secret.toFixed(0)} ms)`,
    verdict: verdictOf(p50 < goal && p99 < 250),
  };
}

async function probe(cluster: BenchCluster, box: string, count: number): Promise<readonly Probe[]> {
  const prober: Prober = await startProber(cluster, box);
  const probes: Probe[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    probes.push(await prober.probe(`probe-${nth}`));
    // Not in step with anything that the operator does on a period.
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
  }
  prober.end();
  return probes;
}

/** Until the last of the box's statuses is written: none is as it was born. */
async function statusesWritten(cluster: BenchCluster, box: string): Promise<void> {
  const path = `/apis/boxgate.dev/v1/namespaces/${box}/clients`;
  const deadline = performance.now() + 300_000;
  for (;;) {
    const { body } = await cluster.plane.call({ path });
    const items = isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
    if (items.every(({ status }) => isObject(status) && Number(status['observedGeneration']) > 0)) return;
    if (performance.now() > deadline) throw new Error('not every client has a status');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
