import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { introspections } from '../introspections.ts';
import { bearerRequest, formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate, type Contestant } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

/** Live tokens that are asked about in turn. */
const tokenCount = 2_000;

/**
 * Checking tokens: introspection, the decision for a gateway, and a bearer token on the resource API; the latter two
 * evaluate policies as well.
 */
export const checks: Scenario = {
  name: 'checks',
  async run(context) {
    const results = await alternate(
      context.load,
      [await floor(context), await introspection(context), await gateway(context), await bearer(context)],
      context.rounds,
    );
    const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
    for (const name of results.keys()) context.say(`  ${name}: ${rates(name).map(perSecond).join(' ')}`);
    const ratio = medianRatio(rates('introspection'), rates('floor'));
    const cpu = median(results.get('introspection')?.map((round) => round.cpuPerAnswer) ?? []);
    const rate = (name: string): string => perSecond(median(rates(name)));
    const ofIntrospection = medianRatio(rates('gateway'), rates('introspection'));
    const slowest = median(results.get('gateway')?.map((round) => round.latency.p99) ?? []);
    return [
      {
        what: 'introspection, against express + batched SELECT',
        goal: '>= 90 %',
        figure: `${percent(ratio)} (${rate('introspection')} of ${rate('floor')}; CPU ${milliseconds(cpu)})`,
        verdict: verdictOf(ratio >= 0.9),
      },
      {
        what: '`/auth/check` with ten policies, one of them linked, against introspection',
        goal: '>= 90 %',
        figure: `${percent(ofIntrospection)} (${rate('gateway')} of ${rate('introspection')}; p99 ${milliseconds(slowest)})`,
        verdict: verdictOf(ofIntrospection >= 0.9),
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
  const requests = await introspections(boxgate, boxgate.clients.opaque, tokenCount);
  return contestant(context, 'introspection', boxgate, requests);
}

/** As nginx asks. All ten policies are asked: the last one grants. */
async function gateway(context: BenchContext): Promise<Contestant> {
  const boxgate = await context.boxgate('tokens');
  const { reader } = boxgate.clients;
  await boxgate.add(
    Array.from({ length: 10 }, (_, nth) => ({
      kind: 'AccessPolicy',
      id: `bench-app-${String(nth)}`,
      resource: {
        resourceType: 'AccessPolicy',
        id: `bench-app-${String(nth)}`,
        engine: 'matcho',
        apps: ['bench'],
        matcho: { 'request-method': 'get', uri: `#^/part-${String(nth)}(/|$)` },
        ...(nth === 0 ? { link: [{ resourceType: 'Client', id: reader.id }] } : { subjects: 'authenticated' }),
      },
    })),
  );
  const tokens = await boxgate.issue(reader, tokenCount);
  const headers = ['X-Original-Method: GET', 'X-Original-URI: /part-9/orders/7?full=1'];
  const requests = tokens.map((token) => bearerRequest(boxgate.path('/auth/check?app=bench'), token, headers));
  return contestant(context, 'gateway', boxgate, requests);
}

/** Each token reads the session of another: the policy of its client decides, not ownership. */
async function bearer(context: BenchContext): Promise<Contestant> {
  const boxgate = await context.boxgate('tokens');
  const tokens = await boxgate.issue(boxgate.clients.reader, tokenCount);
  const ids = await boxgate.sessionIds(tokenCount);
  const requests = tokens.map((token, place) => bearerRequest(boxgate.path(`/Session/${ids[place] ?? ''}`), token));
  return contestant(context, 'bearer', boxgate, requests);
}
