import { contestant } from '../contestants.ts';
import { milliseconds, percent } from '../figures.ts';
import { introspections } from '../introspections.ts';
import { formRequest } from '../load/requests.ts';
import { medianRatio } from '../median.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

const unthrottled = {
  BOXGATE_FAILURES_PER_CLIENT: '1000000',
  BOXGATE_FAILURES_PER_BOX: '1000000',
  BOXGATE_FAILURES_PER_SECRET: '1000000',
};

/** Chosen secrets: right ones cost argon2 once, wrong ones must not slow anybody else down. */
export const argon2Flood: Scenario = {
  name: 'argon2-flood',
  async run(context) {
    // The throttle would refuse the flood before argon2: without it, this is a flood from many addresses.
    const boxgate = await context.boxgate('flood', unthrottled);
    const { opaque, chosen } = boxgate.clients;
    const token = boxgate.path('/auth/token');
    const grant = { grant_type: 'client_credentials' };
    const results = await alternate(
      context.load,
      [
        contestant(context, 'generated', boxgate, [formRequest(token, grant, opaque)]),
        contestant(context, 'chosen', boxgate, [formRequest(token, grant, chosen)]),
      ],
      context.rounds,
    );
    const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
    const ratio = medianRatio(rates('chosen'), rates('generated'));

    const checks = await introspections(boxgate, opaque, 1_000);
    const wrong = Array.from({ length: 1_000 }, (_, place) =>
      formRequest(token, grant, { id: chosen.id, secret: `a wrong secret ${place}` }),
    );
    const time = { seconds: context.rounds * context.seconds, warmupSeconds: 1 };
    const [flood, checked] = await Promise.all([
      context.otherLoad.run({ port: boxgate.port, connections: 100, requests: wrong, rate: 200, ...time }),
      context.load.run({ port: boxgate.port, connections: 32, requests: checks, rate: 500, ...time }),
    ]);
    const refused = Object.keys(flood.statuses).every((status) => ['401', '429', '503'].includes(status));
    const served = checked.failures === 0 && Object.keys(checked.statuses).join() === '200';
    return [
      {
        what: 'tokens of a client with a chosen secret, against a generated one',
        goal: '>= 90 %: argon2 runs once',
        figure: percent(ratio),
        verdict: verdictOf(ratio >= 0.9),
      },
      {
        what: 'p99 of 500 checks/s during a flood of 200 wrong chosen secrets/s',
        goal: '< 50 ms',
        figure: `${milliseconds(checked.latency.p99)} (flood answered ${JSON.stringify(flood.statuses).replaceAll('"', '')})`,
        verdict: verdictOf(served && refused && flood.failures === 0 && checked.latency.p99 < 50),
      },
    ];
  },
};
