import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import type { LoadGenerator } from '../load/client.ts';
import { formRequest } from '../load/requests.ts';
import { cpuOf } from '../machine/process-usage.ts';
import type { ServerProcess } from '../machine/server-process.ts';
import { median, medianRatio } from '../median.ts';
import type { Scenario } from '../scenario.ts';

/** Connections of all callers together. */
const connections = 64;

/** Two replicas of the API on one Postgres, against one of them. */
export const replicas: Scenario = {
  name: 'replicas',
  async run(context) {
    const boxgate = await context.boxgate('replicas');
    const second = await boxgate.replica();
    const grant = { grant_type: 'client_credentials' };
    const request = formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.opaque);
    const [alone, both]: [Shared[], Shared[]] = [[], []];
    try {
      for (let round = 0; round < context.rounds; round += 1) {
        alone.push(await share(context, [boxgate], request));
        both.push(await share(context, [boxgate, second], request));
      }
    } finally {
      await second.stop();
    }
    const of = (rounds: readonly Shared[], part: keyof Shared): number[] => rounds.map((round) => round[part]);
    const spent = (part: 'api' | 'postgres'): string =>
      `${milliseconds(median(of(both, part)))} instead of ${milliseconds(median(of(alone, part)))}`;
    const rates = `${perSecond(median(of(both, 'rate')))} of ${perSecond(median(of(alone, 'rate')))}`;
    const ratio = percent(medianRatio(of(both, 'rate'), of(alone, 'rate')));
    return [
      {
        what: 'tokens of two replicas of the API on one Postgres, against one replica, on two cores with the callers',
        goal: 'reported',
        figure: `${ratio} (${rates}; CPU of the API for a token ${spent('api')}, of Postgres ${spent('postgres')})`,
        verdict: 'reported',
      },
    ];
  },
};

/** One round: tokens a second of all replicas, and milliseconds of CPU of each part for one token. */
interface Shared {
  readonly rate: number;
  readonly api: number;
  readonly postgres: number;
}

/** Divides the connections among the replicas, each with a load generator of its own. */
async function share(context: BenchContext, servers: readonly ServerProcess[], request: string): Promise<Shared> {
  const { load, otherLoad, postgres, seconds } = context;
  const [pids, database] = [servers.map(({ pid }) => pid), [postgres.pid]];
  const before = [cpuOf(pids), cpuOf(database)] as const;
  const each = connections / servers.length;
  const reports = await Promise.all(
    servers.map((server, nth) => {
      const generator: LoadGenerator = nth === 0 ? load : otherLoad;
      return generator.run({ port: server.port, connections: each, requests: [request], seconds, warmupSeconds: 0.5 });
    }),
  );
  const answers = reports.reduce((sum, { answersWithWarmUp }) => sum + answersWithWarmUp, 0);
  return {
    rate: reports.reduce((sum, { perSecond: rate }) => sum + rate, 0),
    api: (cpuOf(pids) - before[0]) / answers,
    postgres: (cpuOf(database) - before[1]) / answers,
  };
}
