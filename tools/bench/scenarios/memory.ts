import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { median, megabytes, percent, perSecond } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { residentOf } from '../machine/process-usage.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

/** Connections of the callers. */
const connections = 64;

/** Samples around a moment, a second apart: garbage comes and goes. */
const samples = 10;

/** Memory of one replica of the API at full load: after the first minute, and after many. */
export const memory: Scenario = {
  name: 'memory',
  large: true,
  async run(context) {
    const { minutes } = context;
    const boxgate = await context.boxgate('memory');
    const [token = ''] = await boxgate.issue(boxgate.clients.opaque, 1);
    const requests = [
      formRequest(boxgate.path('/auth/token'), { grant_type: 'client_credentials' }, boxgate.clients.opaque),
      formRequest(boxgate.path('/auth/introspect'), { token }, boxgate.clients.opaque),
    ];
    // A little longer than the last sample: all of them are taken under load.
    const seconds = minutes * 60 + 2;
    const load = context.load.run({ port: boxgate.port, connections, requests, seconds, warmupSeconds: 0 });
    // Every minute, so that a growth that ends is told from one that goes on.
    const moments = Array.from({ length: minutes }, (_, before) => before + 1);
    const [report, measured] = await Promise.all([load, residentAt(context, boxgate.pid, moments)]);
    const served = report.failures === 0 && Object.keys(report.statuses).join() === '200';
    if (!served) throw new Error(`lost: ${report.failures}, answers ${JSON.stringify(report.statuses)}`);
    const [first = NaN, half = NaN, last = NaN] = [0, 0.5, 1].map((part) => measured[Math.floor(part * (minutes - 1))]);
    const growth = last / first - 1;
    return [
      {
        what: `resident memory of one replica of the API at full load (tokens and checks), after one minute, half of the time, and ${minutes}`,
        goal: 'within 5 %',
        figure: `${megabytes(first)}, ${megabytes(half)}, ${megabytes(last)}: ${growth < 0 ? '' : '+'}${percent(growth)} (${perSecond(report.perSecond)})`,
        // Less than after the first minute is no leak.
        verdict: verdictOf(growth <= 0.05),
      },
    ];
  },
};

/** Returns the resident memory in the seconds before each of these minutes, bytes. */
async function residentAt(context: BenchContext, pid: number, minutes: readonly number[]): Promise<number[]> {
  const begin = performance.now();
  const until = (second: number) => pause(Math.max(0, begin + second * 1_000 - performance.now()));
  const found: number[] = [];
  for (const minute of minutes) {
    const taken: number[] = [];
    for (let nth = samples; nth > 0; nth -= 1) {
      await until(minute * 60 - nth);
      taken.push(residentOf([pid]));
    }
    context.say(`  after ${minute} min: ${megabytes(median(taken))}`);
    found.push(median(taken));
  }
  return found;
}
