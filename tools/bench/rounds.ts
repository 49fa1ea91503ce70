import type { LoadGenerator } from './load/client.ts';
import type { FlowPlan, LoadPlan, LoadReport } from './load/plan.ts';
import { cpuOf } from './machine/process-usage.ts';

/** One of those that are compared. */
export type Contestant = {
  name: string;
  /** Returns the load of one round; called again for each round. */
  plan(): LoadPlan | FlowPlan;
  /** The processes whose CPU it costs: its server and Postgres, each with all below them. */
  pids: number[];
  /** The only status that counts as served. */
  status: number;
};

/** One round of one contestant. */
export type Round = LoadReport & {
  /** CPU of server and Postgres for one answer, milliseconds; the warm-up is in both counts. */
  cpuPerAnswer: number;
  /** The same of each of the processes. */
  cpuOfEach: number[];
};

/**
 * Drives the contestants in turn, A B A B …, so that what the machine does meanwhile falls on all of them. A round with
 * any other status or a lost connection is no figure: throws.
 */
export async function alternate(
  load: LoadGenerator,
  contestants: Contestant[],
  rounds: number,
): Promise<Map<string, Round[]>> {
  const results = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) results.get(contestant.name)?.push(await oneRound(load, contestant));
  }
  return results;
}

async function oneRound(load: LoadGenerator, contestant: Contestant): Promise<Round> {
  const before = contestant.pids.map((pid) => cpuOf([pid]));
  const report = await load.run(contestant.plan());
  const used = contestant.pids.map((pid, nth) => cpuOf([pid]) - (before[nth] ?? NaN));
  refuseFailures(contestant, report);
  const cpuOfEach = used.map((cpu) => cpu / report.answersWithWarmUp);
  return { ...report, cpuOfEach, cpuPerAnswer: cpuOfEach.reduce((sum, cpu) => sum + cpu, 0) };
}

function refuseFailures({ name, status }: Contestant, { statuses, failures }: LoadReport): void {
  const others = Object.keys(statuses).filter((key) => key !== String(status));
  if (failures > 0 || others.length > 0) {
    throw new Error(`${name}: ${failures} connections lost, answers by status ${JSON.stringify(statuses)}`);
  }
}
