import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { startApiProcess } from '../../../../test/support/api-process.ts';
import { startScriptedCluster, type ScriptedCluster } from '../../../envtest/scripted-cluster.ts';
import { startOperatorProcess } from '../../../../test/support/operator-process.ts';
import { whole } from '../../figures.ts';
import { makeDatabase } from '../../machine/database.ts';
import { medianRatio } from '../../median.ts';
import { verdictOf, type Row } from '../../scenario.ts';
import { quantile, times } from '../figures.ts';
import { withKeys } from '../objects.ts';
import { passesOf } from '../passes.ts';
import type { OperatorContext, OperatorScenario } from '../scenario.ts';

const perSecond = 1_000;

/** One object changes a thousand times a second, and others have to wait no longer for it. */
export const scriptedFlood: OperatorScenario = {
  name: 'scripted-flood',
  async run(context) {
    const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-bench-scripted-'));
    const cluster = await startScriptedCluster();
    const urls = await makeDatabase(context.postgres, `scripted_${randomBytes(4).toString('hex')}`);
    const api = await startApiProcess(urls.BOXGATE_DATABASE_URL);
    const kubeconfig = path.join(folder, 'kubeconfig');
    await writeFile(kubeconfig, cluster.kubeconfig);
    const operator = await startOperatorProcess({ access: { kubeconfig }, api }, { BOXGATE_CLUSTER_ID: 'scripted' });
    try {
      return [await measure(context, cluster, operator.healthUrl)];
    } finally {
      await operator.end('SIGTERM');
      await api.end('SIGTERM');
      await cluster.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measure(context: OperatorContext, cluster: ScriptedCluster, healthUrl: string): Promise<Row> {
  const seconds = context.small ? 2 : 4;
  const others: { control: number[]; flooded: number[] } = { control: [], flooded: [] };
  let [updates, passes] = [0, 0];
  await probe(cluster, 1);
  for (let round = 0; round < context.rounds; round += 1) {
    others.control.push(quantile(await probe(cluster, seconds), 0.5));
    const before = await passesOf(healthUrl);
    const stop = startFlood(cluster);
    const took = await probe(cluster, seconds);
    others.flooded.push(quantile(took, 0.5));
    const [changed, made] = [stop(), (await passesOf(healthUrl)) - before - took.length];
    updates += changed;
    passes += made;
    context.say(
      `  ${changed} updates, ${made} passes; others ${last(others.flooded)} ms, alone ${last(others.control)} ms`,
    );
  }
  const ratio = medianRatio(others.flooded, others.control);
  return {
    what: 'one Client changed 1,000 times a second (scripted API server): passes beside those of other boxes, and create to status in these against a control run',
    goal: 'fewer than changes, <= 2 times',
    figure: `${whole(passes)} of ${whole(updates)}, ${times(ratio)} (p50 ${last(others.flooded)} ms)`,
    verdict: verdictOf(passes * 2 < updates && ratio <= 2),
  };
}

function last(values: readonly number[]): string {
  return (values.at(-1) ?? NaN).toFixed(1);
}

/** Begins to change one Client; the result stops it and tells how often it was changed. */
function startFlood(cluster: ScriptedCluster): () => number {
  const began = performance.now();
  let updates = 0;
  const timer = setInterval(() => {
    for (const due = ((performance.now() - began) * perSecond) / 1000; updates < due; updates += 1) {
      cluster.put('flooded', 'one', { ...withKeys, description: `change ${updates}` });
    }
  }, 1);
  return () => {
    clearInterval(timer);
    return updates;
  };
}

/** For so many seconds, one Client after the other in other boxes: milliseconds until each is written of. */
async function probe(cluster: ScriptedCluster, seconds: number): Promise<readonly number[]> {
  const took: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const [box, name] = [`box-${took.length % 10}`, `probe-${randomBytes(4).toString('hex')}`];
    const begin = performance.now();
    const written = new Promise<void>((resolve) => {
      const deafen = cluster.onStatus((...about) => {
        if (about[0] !== box || about[1] !== name) return;
        deafen();
        resolve();
      });
    });
    cluster.put(box, name, withKeys);
    await written;
    took.push(performance.now() - begin);
    await pause(20);
  }
  return took;
}
