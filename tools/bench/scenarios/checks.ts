import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { bearerRequest, formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate, type Contestant } from '../rounds.ts';
import { judged, type Scenario } from '../scenario.ts';

/** Live tokens that are asked about in turn. */
const tokenCount = 2_000;

/** Checking tokens: introspection, and a bearer token on the resource API, which evaluates the policies as well. */
export const checks: Scenario = {
  name: 'checks',
  async run(context) {
    const results = await alternate(
      context.load,
      [await floor(context), await introspection(context), await bearer(context)],
      context.rounds,
    );
    const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
    for (const name of results.keys()) context.say(`  ${name}: ${rates(name).map(perSecond).join(' ')}`);
    const ratio = medianRatio(rates('introspection'), rates('floor'));
    const cpu = median(results.get('introspection')?.map((round) => round.cpuPerAnswer) ?? []);
    const rate = (name: string): string => perSecond(median(rates(name)));
    return [
      {
        what: 'introspection, against express + batched SELECT',
        goal: '>= 90 %',
        figure: `${percent(ratio)} (${rate('introspection')} of ${rate('floor')}; CPU ${milliseconds(cpu)})`,
        verdict: judged(ratio >= 0.9),
      },
      {
        what: 'bearer check with policies on `GET /Session/<id>`',
        goal: 'reported',
        figure: rate('bearer'),
        verdict: 'reported',
      },
    ];
  },
};

async function floor(context: BenchContext): Promise<Contestant> {
  const server = await context.floor('select-batched');
  const rows = await context.postgres.query<{ id: string }>(
    'floor_select-batched',
    `INSERT INTO session
     SELECT gen_random_uuid(), md5(i::text), 'bench', now() + interval '1 hour' FROM generate_series(1, $1) i
     RETURNING id`,
    [tokenCount],
  );
  const requests = rows.map(({ id }) => formRequest('/auth/introspect', { token: id }));
  return contestant(context, 'floor', server, requests);
}

async function introspection(context: BenchContext): Promise<Contestant> {
  const boxgate = await context.boxgate('tokens');
  const tokens = await boxgate.issue(boxgate.clients.opaque, tokenCount);
  const requests = tokens.map((token) =>
    formRequest(boxgate.path('/auth/introspect'), { token }, boxgate.clients.opaque),
  );
  return contestant(context, 'introspection', boxgate, requests);
}

/** Each token reads the session of another: the policy of its client decides, not ownership. */
async function bearer(context: BenchContext): Promise<Contestant> {
  const boxgate = await context.boxgate('tokens');
  const tokens = await boxgate.issue(boxgate.clients.reader, tokenCount);
  const ids = await boxgate.sessionIds(tokenCount);
  const requests = tokens.map((token, place) => bearerRequest(boxgate.path(`/Session/${ids[place] ?? ''}`), token));
  return contestant(context, 'bearer', boxgate, requests);
}
