import { bindSecrets } from '../../operator/install-operator.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import type { RestartedApi } from './api-supply.ts';
import { createApiWorld, faultOf } from './api-world.ts';
import { clusterBox, type ClusterBox } from './cluster-box.ts';
import { readClusterFacts } from './cluster-facts.ts';
import type { EpochWatch } from './epoch-watch.ts';
import type { OperatorStory } from './operator-stories.ts';
import type { RestartedOperator } from './operator-supply.ts';
import { readRows } from './rows.ts';
import { watchInvariants } from './watch-invariants.ts';
import type { Plan, WriteLog } from './write-log.ts';

/** Processes that the stories run on. */
export interface OperatorCrashRig {
  readonly plane: ControlPlane;
  /** A namespace beside those of the stories. */
  readonly anchor: ClusterBox;
  readonly database: TestDatabase;
  readonly api: RestartedApi;
  readonly operator: RestartedOperator;
  readonly log: WriteLog;
  readonly epochs: EpochWatch;
}

/** Outcome of a story. */
export interface OperatorOutcome {
  readonly writes: readonly string[];
  /** Rows, objects with their statuses, and Secrets. */
  readonly end: string;
  readonly violations: readonly string[];
  readonly isMet: boolean;
}

/**
 * Plays a story in a new namespace, and lets a process end as a plan says; then looks whether all comes to the end that
 * it has without a fault (`wanted`), and whether the invariants held meanwhile. Throws with the last log lines of both
 * processes when the story cannot begin.
 */
export async function playOperatorStory(
  rig: OperatorCrashRig,
  story: OperatorStory,
  plan?: Plan,
  wanted?: string,
): Promise<OperatorOutcome> {
  const keeper = keepRunning(rig);
  const said = () => [`operator: ${rig.operator.lastLines()}`, `API: ${rig.api.lastLines()}`];
  try {
    const outcome = await playKept(rig, story, plan, wanted);
    const violations = [...outcome.violations, ...keeper.faults, ...rig.api.unplanned(), ...rig.operator.unplanned()];
    const last = violations.at(-1);
    return { ...outcome, violations: last === undefined ? [] : violations.with(-1, [last, ...said()].join('\n')) };
  } catch (error) {
    throw new Error([messageOf(error), ...keeper.faults, ...said()].join('\n'), { cause: error });
  } finally {
    await keeper.end();
  }
}

async function playKept(
  rig: OperatorCrashRig,
  story: OperatorStory,
  plan: Plan | undefined,
  wanted: string | undefined,
): Promise<OperatorOutcome> {
  const { plane, api, operator, log, database } = rig;
  const cluster = clusterBox(plane, await plane.namespace('crash'));
  await bindSecrets(plane, cluster.name);
  const world = { cluster, api: createApiWorld(api, cluster.name), killLeader: () => operator.kill() };
  await awake(rig);
  await story.before?.(world);
  const violations: string[] = [];
  const note = (invariant: string) => (error: unknown) => {
    violations.push(`${invariant} ${messageOf(error)}`);
  };
  log.begin(cluster.name, plan);
  const watch = watchInvariants(cluster, world.api, database);
  await story.play(world).catch(note('I5 I7'));
  await quiet(log);
  const { writes, isMet } = log;
  log.end();
  // Who works here now has looked at everything in the box before it makes this one, and has written everything that
  // follows from it before it changes this one.
  for (const description of ['made', 'changed']) {
    await cluster.put('AccessPolicy', 'last', { engine: 'allow', description });
    await cluster.ready('AccessPolicy', 'last').catch(note('I5 I7'));
  }
  const end = await settled(rig, cluster, wanted).catch((error: unknown) => {
    note('I5')(error);
    return '';
  });
  violations.push(...(await watch.end()), ...rig.epochs.violations());
  for (const expectation of world.api.expected) {
    const fault = await faultOf(world.api, expectation);
    if (fault !== undefined) violations.push(`${expectation.status === 401 ? 'I2' : 'I7'} ${fault}`);
  }
  await cluster.empty();
  return { writes, isMet, end, violations };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Somebody leads, and has done what one does at the beginning. */
async function awake({ anchor }: OperatorCrashRig): Promise<void> {
  await anchor.put('AccessPolicy', 'anchor', { engine: 'allow' });
  await anchor.ready('AccessPolicy', 'anchor');
  await anchor.remove('AccessPolicy', 'anchor');
  await anchor.gone('AccessPolicy', 'anchor');
}

/** Whoever was ended is started again, as Kubernetes does with a pod; each start that failed is a fault. */
function keepRunning({ api, operator }: OperatorCrashRig): { readonly faults: string[]; end(): Promise<void> } {
  const faults: string[] = [];
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      await Promise.all([api.present(), operator.present()]).catch((error: unknown) => faults.push(messageOf(error)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const running = work();
  return {
    faults,
    async end() {
      isOver = true;
      await running;
    },
  };
}

/** Waits until no more writes arrive: later writes, such as the statuses of other objects, belong to the story too. */
async function quiet(log: WriteLog): Promise<void> {
  for (let before = -1; before !== log.writes.length && !log.isMet;) {
    before = log.writes.length;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

/** The end of a story, once it is as wanted. */
async function settled(rig: OperatorCrashRig, cluster: ClusterBox, wanted: string | undefined): Promise<string> {
  let end = await endOf(rig, cluster);
  if (wanted === undefined) return end;
  try {
    await eventually('', async () => (end = await endOf(rig, cluster)) === wanted);
  } catch {
    throw new Error(`another end than without a fault:\n${difference(end, wanted)}`);
  }
  return end;
}

function difference(found: string, wanted: string): string {
  const [here, there] = [found.split('\n'), wanted.split('\n')];
  const only = (lines: string[], others: string[], sign: string) =>
    lines.filter((line) => !others.includes(line)).map((line) => sign + line);
  return [...only(here, there, '+'), ...only(there, here, '-')].join('\n');
}

async function endOf({ database }: OperatorCrashRig, cluster: ClusterBox): Promise<string> {
  const { objects, secrets, names } = await readClusterFacts(cluster);
  const rows = await readRows(database, cluster.name, names);
  return JSON.stringify({ rows, objects, secrets }, undefined, 1);
}
