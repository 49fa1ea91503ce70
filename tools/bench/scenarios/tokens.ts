import { contestant, tokenFloor } from '../contestants.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate, type Round } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

/** Issuing tokens: what every other figure of the token endpoint is compared with. */
export const tokens: Scenario = {
  name: 'tokens',
  async run(context) {
    const boxgate = await context.boxgate('tokens');
    const grant = { grant_type: 'client_credentials' };
    const results = await alternate(
      context.load,
      [
        await tokenFloor(context, 'express'),
        await tokenFloor(context, 'insert-batched'),
        contestant(context, 'opaque', boxgate, [
          formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.opaque),
        ]),
        contestant(context, 'jwt', boxgate, [formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.jwt)]),
        await tokenFloor(context, 'oidc-provider'),
      ],
      context.rounds,
    );
    for (const [name, rounds] of results) context.say(`  ${name}: ${summary(rounds)}`);
    return rows(results);
  },
};

function rows(results: Map<string, Round[]>): Row[] {
  const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
  const cpu = (name: string): number[] => results.get(name)?.map((round) => round.cpuPerAnswer) ?? [];
  const rate = (name: string): string => perSecond(median(rates(name)));
  const floor = medianRatio(rates('insert-batched'), rates('express'));
  const opaque = medianRatio(rates('opaque'), rates('insert-batched'));
  const provider = medianRatio(rates('opaque'), rates('oidc-provider'));
  const jwt = medianRatio(rates('jwt'), rates('insert-batched'));
  const spent = medianRatio(cpu('opaque'), cpu('insert-batched'));
  return [
    {
      what: 'the naive floor itself, against an express that answers a constant',
      goal: '>= 45 %',
      figure: `${percent(floor)} (${rate('insert-batched')} of ${rate('express')})`,
      verdict: verdictOf(floor >= 0.45),
    },
    {
      what: 'opaque token, Basic + form, durable, as shipped, against the naive floor',
      goal: '>= 115 %',
      figure: `${percent(opaque)} (${rate('opaque')})`,
      verdict: verdictOf(opaque >= 1.15),
    },
    {
      what: 'the same against node-oidc-provider with its memory adapter',
      goal: '>= 1.2 times',
      figure: `${provider.toFixed(2)} times (${rate('oidc-provider')})`,
      verdict: verdictOf(provider >= 1.2),
    },
    {
      what: 'JWT ES256, session stored, against the naive floor',
      goal: '>= 65 %',
      figure: `${percent(jwt)} (${rate('jwt')})`,
      verdict: verdictOf(jwt >= 0.65),
    },
    {
      what: 'CPU of API and Postgres for one token, against the naive floor',
      goal: '<= 95 %',
      figure: `${percent(spent)} (${milliseconds(median(cpu('opaque')))}, floor ${milliseconds(median(cpu('insert-batched')))})`,
      verdict: verdictOf(spent <= 0.95),
    },
  ];
}

function summary(rounds: Round[]): string {
  const p99 = milliseconds(median(rounds.map((round) => round.latency.p99)));
  return `${rounds.map((round) => perSecond(round.perSecond)).join(' ')}, p99 ${p99}`;
}
