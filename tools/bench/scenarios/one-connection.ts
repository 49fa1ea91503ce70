import { contestant, tokenFloor } from '../contestants.ts';
import { milliseconds, percent } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

/** Latency of a single caller: batching must not add to it. */
export const oneConnection: Scenario = {
  name: 'one-connection',
  async run(context) {
    const boxgate = await context.boxgate('tokens');
    const grant = { grant_type: 'client_credentials' };
    const request = formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.opaque);
    const results = await alternate(
      context.load,
      [await tokenFloor(context, 'insert-single', 1), contestant(context, 'opaque', boxgate, [request], 1)],
      context.rounds,
    );
    const middle = (name: string): number[] => results.get(name)?.map((round) => round.latency.p50) ?? [];
    const ratio = medianRatio(middle('opaque'), middle('insert-single'));
    return [
      {
        what: 'one connection alone: median latency, against express + one INSERT',
        goal: '<= 115 %',
        figure: `${percent(ratio)} (${milliseconds(median(middle('opaque')))} of ${milliseconds(median(middle('insert-single')))})`,
        verdict: verdictOf(ratio <= 1.15),
      },
    ];
  },
};
