import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { API_GROUP } from '../../../../crds/kind.ts';
import { megabytes, whole } from '../../figures.ts';
import { median } from '../../median.ts';
import { verdictOf, type Row } from '../../scenario.ts';
import { atOnce, upTo } from '../at-once.ts';
import { bareGroup } from '../bare-kinds.ts';
import { newBox } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { quantile, times } from '../figures.ts';
import { empty, probesDuring, texts } from '../neighbours.ts';
import { memoryOf } from '../memory.ts';
import { create, demand, generated, nameOf, pathOf } from '../objects.ts';
import { startProber, type Prober } from '../prober.ts';
import type { OperatorContext, OperatorScenario } from '../scenario.ts';

/** A box with many large Clients, as its namespace declares them. */
interface LargeBox {
  readonly count: number;
  /** Characters of `details` of each. */
  readonly size: number;
  readonly outcome: string;
}

const large: readonly LargeBox[] = [
  { count: 150, size: 750_000, outcome: 'each is too large' },
  { count: 400, size: 60_000, outcome: 'all are applied' },
];

/** Connections over which the objects are made. */
const connections = 4;

/** a box with large Clients beside a small box. */
export const largeNeighbour: OperatorScenario = {
  name: 'large-neighbour',
  async run(context) {
    const rows: Row[] = [];
    for (const box of large) {
      rows.push(await onCluster(context, (cluster) => row(context, cluster, sized(box, context))));
    }
    return rows;
  },
};

function sized(box: LargeBox, { small }: OperatorContext): LargeBox {
  return small ? { ...box, count: Math.ceil(box.count / 10) } : box;
}

async function row(context: OperatorContext, cluster: BenchCluster, box: LargeBox): Promise<Row> {
  const operator = await cluster.operator({ BOXGATE_SWEEP_SECONDS: '5' });
  const prober = await startProber(cluster, await newBox(cluster));
  const before = [operator, cluster.api].map(({ pid }) => memoryOf(pid).now);
  const quiet = await probesDuring(prober, pause(context.small ? 2_000 : 10_000));
  const [control, loaded] = [noProbes(), noProbes()];
  for (let round = 0; round < context.rounds; round += 1) {
    await beside(cluster, prober, box, bareGroup, context.small, control);
    await beside(cluster, prober, box, API_GROUP, context.small, loaded);
  }
  prober.end();
  const peak = [operator, cluster.api].map(({ pid }) => memoryOf(pid).peak);
  context.say(`  quiet ${texts(quiet)}`);
  const ratios = phases.map((phase) => median([...loaded[phase]]) / median([...control[phase]]));
  for (const phase of phases) {
    context.say(`  ${phase} ${texts(loaded[phase])}, control ${texts(control[phase])}`);
  }
  const memory = before.map((bytes, nth) => `${megabytes(bytes)} to ${megabytes(peak[nth] ?? NaN)}`);
  return {
    what: `A box with ${whole(box.count)} Clients of ${whole(box.size)} characters (${box.outcome}). Create to token in another box while they are made, while they are kept and compared every 5 s, and while two a second are changed, against a control run. Memory of operator and API`,
    goal: '<= 2 times',
    figure: `p50 ${quantile(quiet, 0.5).toFixed(0)} ms quiet; ${ratios.map(times).join(', ')}; ${memory.join(', ')}`,
    verdict: verdictOf(ratios.every((ratio) => ratio <= 2)),
  };
}

const phases = ['applied', 'kept', 'changed'] as const;

/** Probes of each phase, of all rounds. */
type Phases = Readonly<Record<(typeof phases)[number], number[]>>;

function noProbes(): Phases {
  return { applied: [], kept: [], changed: [] };
}

/** One round in a box of its own, which is empty afterwards. */
async function beside(
  cluster: BenchCluster,
  prober: Prober,
  { count, size }: LargeBox,
  group: string,
  isSmall: boolean,
  found: Phases,
): Promise<void> {
  const rude = await newBox(cluster);
  const details = { text: 'x'.repeat(size) };
  const names = upTo(count).map((nth) => nameOf(nth));
  const make = (name: string) => create(cluster.plane, 'clients', rude, name, { ...generated, details }, group);
  const change = async (name: string): Promise<void> => {
    const path = `${pathOf('clients', rude, group)}/${name}`;
    const body = { spec: { description: `change ${randomBytes(6).toString('hex')}` } };
    await demand(cluster.plane, 200, { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    await pause(500);
  };
  const length = isSmall ? 2_000 : 6_000;
  found.applied.push(...(await probesDuring(prober, atOnce(connections, names, make))));
  found.kept.push(...(await probesDuring(prober, pause(length))));
  found.changed.push(...(await probesDuring(prober, atOnce(1, names.slice(0, length / 500), change))));
  await empty(cluster, pathOf('clients', rude, group));
}
