import { milliseconds, perSecond } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

/** No request may wait longer, milliseconds: beyond it callers give up. */
const stall = 2_000;

/** Many more callers than connections to Postgres. */
export const manyConnections: Scenario = {
  name: 'many-connections',
  async run(context) {
    const boxgate = await context.boxgate('tokens');
    const grant = { grant_type: 'client_credentials' };
    const request = formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.opaque);
    const report = await context.load.run({
      port: boxgate.port,
      connections: 500,
      requests: [request],
      seconds: context.rounds * context.seconds,
      warmupSeconds: 0.5,
    });
    const served = report.failures === 0 && Object.keys(report.statuses).join() === '200';
    const { p50, p99, max } = report.latency;
    const times = `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}, longest ${milliseconds(max)}`;
    return [
      {
        what: '500 connections, a pool of 4: tokens',
        goal: 'no failure, none waits 2 s',
        figure: served ? `${perSecond(report.perSecond)}, ${times}` : `failures: ${JSON.stringify(report.statuses)}`,
        verdict: verdictOf(served && max < stall),
      },
    ];
  },
};
