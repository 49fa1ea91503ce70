import { setTimeout as pause } from 'node:timers/promises';
import { API_GROUP } from '../../../../crds/kind.ts';
import { whole } from '../../figures.ts';
import { median } from '../../median.ts';
import { verdictOf, type Row } from '../../scenario.ts';
import { atOnce, upTo } from '../at-once.ts';
import { bareGroup } from '../bare-kinds.ts';
import { newBox } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { quantile, times } from '../figures.ts';
import { empty, probesDuring, texts } from '../neighbours.ts';
import { create, demand, nameOf, pathOf } from '../objects.ts';
import { startProber, type Prober } from '../prober.ts';
import type { OperatorContext, OperatorScenario } from '../scenario.ts';

/** Policies with so many links, which are changed again and again. */
interface Links {
  readonly count: number;
  /** Characters of each link's id. */
  readonly idLength: number;
  readonly outcome: string;
}

const sizes: readonly Links[] = [
  { count: 10_000, idLength: 63, outcome: 'each is too large' },
  { count: 2_000, idLength: 63, outcome: 'each is applied' },
];

/** Changes a second, of all policies together. */
const rate = 34;
const policies = 8;
/** Connections over which they are changed. */
const connections = 4;

/** a namespace whose large policies change all the time, beside a small box. */
export const changingNeighbour: OperatorScenario = {
  name: 'changing-neighbour',
  async run(context) {
    const rows: Row[] = [];
    for (const links of sizes) rows.push(await onCluster(context, (cluster) => row(context, cluster, links)));
    return rows;
  },
};

async function row(context: OperatorContext, cluster: BenchCluster, links: Links): Promise<Row> {
  await cluster.operator();
  const prober = await startProber(cluster, await newBox(cluster));
  const quiet = [...(await probesDuring(prober, pause(context.small ? 2_000 : 10_000)))];
  const [control, loaded]: [number[], number[]] = [[], []];
  const rates: number[] = [];
  for (let round = 0; round < context.rounds; round += 1) {
    control.push(...(await beside(cluster, prober, links, bareGroup, context.small)).took);
    const { took, perSecond } = await beside(cluster, prober, links, API_GROUP, context.small);
    loaded.push(...took);
    rates.push(perSecond);
  }
  prober.end();
  context.say(
    `  quiet ${texts(quiet)}; changed ${texts(loaded)}, control ${texts(control)}; ${median(rates).toFixed(0)} changes a second`,
  );
  const [toQuiet, toControl] = [quiet, control].map((other) => median(loaded) / median(other));
  const ratio = toQuiet ?? NaN;
  return {
    what: `Up to ${whole(rate)} changes a second of policies with ${whole(links.count)} links (${links.outcome}) in one namespace. Create to token in another box, against the quiet figure; and against the same changes of objects that no operator looks at`,
    goal: '<= 3 times',
    figure: `${median(rates).toFixed(0)} changes a second; p50 ${quantile(quiet, 0.5).toFixed(0)} ms quiet; ${times(ratio)}; ${times(toControl ?? NaN)}`,
    verdict: verdictOf(ratio <= 3),
  };
}

/** Probes while policies of a namespace of its own change, and how many changes there were a second. */
async function beside(
  cluster: BenchCluster,
  prober: Prober,
  { count, idLength }: Links,
  group: string,
  isSmall: boolean,
): Promise<{ readonly took: readonly number[]; readonly perSecond: number }> {
  const rude = await newBox(cluster);
  const link = upTo(count).map((nth) => ({ reference: `Client/${String(nth).padStart(idLength, 'a')}` }));
  const names = upTo(policies).map((nth) => nameOf(nth, 'policy'));
  for (const name of names) {
    await create(cluster.plane, 'accesspolicies', rude, name, { engine: 'allow', link }, group);
  }
  const length = isSmall ? 2_000 : 10_000;
  const begun = performance.now();
  let made = 0;
  const change = async (nth: number): Promise<void> => {
    await pause(Math.max(0, begun + (nth * 1_000) / rate - performance.now()));
    // A machine that cannot take as many makes as many as it can.
    if (performance.now() - begun > length) return;
    const path = `${pathOf('accesspolicies', rude, group)}/${names[nth % policies] ?? ''}`;
    const body = { spec: { description: `change ${String(nth)}` } };
    await demand(cluster.plane, 200, { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    made += 1;
  };
  const due = upTo(Math.ceil((rate * length) / 1_000));
  const took = await probesDuring(prober, atOnce(connections, due, change));
  await empty(cluster, pathOf('accesspolicies', rude, group));
  return { took, perSecond: (made * 1_000) / length };
}
