import { setTimeout as pause } from 'node:timers/promises';
import type { OperatorProcess } from '../../../../test/support/operator-process.ts';
import { megabytes, whole } from '../../figures.ts';
import { verdictOf, type Row } from '../../scenario.ts';
import { atOnce, upTo } from '../at-once.ts';
import { onAuditedCluster, writesBetween, type AuditLog } from '../audit.ts';
import { bareGroup } from '../bare-kinds.ts';
import { startBareWriter } from '../bare.ts';
import type { BenchCluster } from '../cluster.ts';
import { seconds, times } from '../figures.ts';
import { kubeApi } from '../kube.ts';
import { enforced } from '../live.ts';
import { memoryOf } from '../memory.ts';
import { create, generated, nameOf, pathOf, policyFor, type Plural } from '../objects.ts';
import { watchReady } from '../ready.ts';
import type { OperatorContext, OperatorScenario } from '../scenario.ts';

const plurals = ['clients', 'accesspolicies'] as const satisfies readonly Plural[];
/** Milliseconds after which what a piece of work has left behind is given back. */
const settling = 20_000;
const memoryGoal = 300e6;

/** A large installation: many boxes, each with many clients and policies. */
export const manyBoxes: OperatorScenario = {
  name: 'many-boxes',
  run: (context) => onAuditedCluster(context, (cluster, log) => run(context, cluster, log)),
};

async function run(context: OperatorContext, cluster: BenchCluster, log: AuditLog): Promise<Row[]> {
  const count = context.small ? 300 : 10_000;
  const boxes = await cluster.boxes(context.small ? 10 : 100);
  await fill(cluster, boxes, count);
  context.say(`  ${whole(2 * count)} objects are there`);
  const first = await firstStart(cluster, count);
  context.say(`  first start: enforced ${seconds(first.live)}, Ready ${seconds(first.ready)}`);
  const bare = await bareWriters(cluster, boxes.length, count);
  context.say(`  bare writer: Secrets ${seconds(bare.secrets)}, finalizers and statuses ${seconds(bare.rest)}`);
  const steady = memoryOf(first.operator.pid);
  await first.operator.end('SIGTERM');
  const again = await restart(cluster, boxes, log);
  context.say(`  restart: ${seconds(again.converged)}, writes ${JSON.stringify([...again.writes])}`);
  return rows(count, boxes.length, first, bare, steady, again);
}

/** Objects as they stand in a cluster in which nobody has run the operator yet. */
async function fill(cluster: BenchCluster, boxes: readonly string[], count: number, group?: string): Promise<void> {
  await atOnce(32, upTo(count), async (nth) => {
    const [box, name] = [boxes[nth % boxes.length] ?? '', nameOf(nth)];
    await create(cluster.plane, 'clients', box, name, generated, group);
    await create(cluster.plane, 'accesspolicies', box, name, policyFor(name), group);
  });
}

interface FirstStart {
  readonly operator: OperatorProcess;
  readonly live: number;
  readonly ready: number;
}

/** Milliseconds from the start of the program until all is enforced, and until a watch has seen each Ready. */
async function firstStart(cluster: BenchCluster, count: number): Promise<FirstStart> {
  const kube = kubeApi(cluster.plane.kubeconfig);
  const watching = await watchReady(
    kube,
    plurals.map((plural) => pathOf(plural)),
    2 * count,
  );
  const begin = performance.now();
  const operator = await cluster.operator();
  const [live, ready] = await Promise.all([enforced(cluster, 2 * count), watching.all]);
  return { operator, live: live - begin, ready: ready - begin };
}

/** Milliseconds that the same writes take with nothing around them. */
async function bareWriters(
  cluster: BenchCluster,
  boxes: number,
  count: number,
): Promise<{ secrets: number; rest: number }> {
  await fill(cluster, await cluster.boxes(boxes), count, bareGroup);
  const secretWriter = await startBareWriter(cluster, ['clients'], ['secret']);
  const secrets = await secretWriter.wrote(count);
  await secretWriter.stop();
  const statusWriter = await startBareWriter(cluster, plurals, ['finalizer', 'status']);
  const rest = await statusWriter.wrote(2 * count);
  await statusWriter.stop();
  return { secrets, rest };
}

interface Restart {
  readonly converged: number;
  readonly writes: ReadonlyMap<string, number>;
  readonly memory: ReturnType<typeof memoryOf>;
}

/**
 * Starts the operator again. What was declared in every box while nobody watched tells when it has converged: one
 * policy each, and the writes for these must be the only ones.
 */
async function restart(cluster: BenchCluster, boxes: readonly string[], log: AuditLog): Promise<Restart> {
  const before = await log.writes();
  const watching = await watchReady(kubeApi(cluster.plane.kubeconfig), [pathOf('accesspolicies')], boxes.length);
  await atOnce(16, boxes, (box) =>
    create(cluster.plane, 'accesspolicies', box, 'declared-meanwhile', { engine: 'allow' }),
  );
  const begin = performance.now();
  const operator = await cluster.operator();
  const converged = (await watching.all) - begin;
  await pause(settling);
  return { converged, writes: writesBetween(before, await log.writes()), memory: memoryOf(operator.pid) };
}

function rows(
  count: number,
  boxes: number,
  first: FirstStart,
  bare: { readonly secrets: number; readonly rest: number },
  steady: ReturnType<typeof memoryOf>,
  again: Restart,
): Row[] {
  const beside = first.live - bare.secrets;
  const ratio = first.ready / (bare.secrets + bare.rest);
  const resident = Math.max(steady.now, again.memory.now);
  const others = [...again.writes.values()].reduce((sum, writes) => sum + writes, 0) - 2 * boxes;
  const installation = `10,000 Clients with generated secrets and 10,000 policies in 100 namespaces`;
  return [
    {
      what: `${installation}: first start, all enforced, beside the making of Secrets`,
      goal: '< 25 s',
      figure: `${seconds(beside)} (${seconds(first.live)} in all; a bare writer makes the Secrets in ${seconds(bare.secrets)})`,
      verdict: verdictOf(beside < 25_000),
    },
    {
      what: 'the same, until each is Ready, against a bare writer of the Secrets, finalizers and statuses',
      goal: '<= 1.3 times',
      figure: `${times(ratio)} (${seconds(first.ready)} of ${seconds(bare.secrets + bare.rest)})`,
      verdict: verdictOf(ratio <= 1.3),
    },
    {
      what: 'the same, restart: converged (a policy made in each namespace meanwhile is Ready), other writes',
      goal: '< 20 s, none',
      figure: `${seconds(again.converged)}, ${whole(others)}`,
      verdict: verdictOf(again.converged < 20_000 && others === 0),
    },
    {
      what: 'resident memory of the operator with these, steady',
      goal: '< 300 MB',
      figure: `${megabytes(resident)} (highest ${megabytes(Math.max(steady.peak, again.memory.peak))})`,
      verdict: verdictOf(resident < memoryGoal),
    },
  ];
}
