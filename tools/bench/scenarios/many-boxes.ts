import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate, type Contestant, type Round } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';
import { boxByBox, storeBoxes, type ClientOfBox } from '../stored-boxes.ts';

const boxes = 1_000;
const clientsOfEach = 10;

/** First requests to boxes a second: each reads a box. */
const arrivals = 50;

/** Replicas that read every box for the first time. */
const mostReplicas = 3;

/** Many small boxes, against one box with as many clients in all. */
export const manyBoxes: Scenario = {
  name: 'many-boxes',
  async run(context) {
    const boxgate = await context.boxgate('boxes');
    const names = Array.from({ length: boxes }, (_, nth) => `box-${nth}`);
    const many = boxByBox(await storeBoxes(context, boxgate, names, clientsOfEach), clientsOfEach);
    const one = await storeBoxes(context, boxgate, ['whole'], boxes * clientsOfEach);
    const contestants = [
      contestant(context, 'tokens, one', boxgate, tokenRequests(boxgate, one)),
      contestant(context, 'tokens, many', boxgate, tokenRequests(boxgate, many)),
      contestant(context, 'checks, one', boxgate, await checkRequests(boxgate, one.slice(0, boxes))),
      contestant(context, 'checks, many', boxgate, await checkRequests(boxgate, many.slice(0, boxes))),
    ];
    for (const entry of contestants) await warmUp(context, entry);
    const results = await alternate(context.load, contestants, context.rounds);
    return [
      ...(['tokens', 'checks'] as const).map((what) => againstOne(what, results)),
      await firstRequests(context, boxgate, { first: many.slice(0, boxes), whole: one }),
    ];
  },
};

function tokenRequests(boxgate: Boxgate, clients: readonly ClientOfBox[]): string[] {
  const grant = { grant_type: 'client_credentials' };
  return clients.map(({ box, client }) => formRequest(boxgate.pathIn(box, '/auth/token'), grant, client));
}

/** A client has its own token checked. */
async function checkRequests(boxgate: Boxgate, clients: readonly ClientOfBox[]): Promise<string[]> {
  const requests: string[] = [];
  for (const { box, client } of clients) {
    const [token = ''] = await boxgate.issueIn(box, client, 1);
    requests.push(formRequest(boxgate.pathIn(box, '/auth/introspect'), { token }, client));
  }
  return requests;
}

/** Sends each request once: afterwards every box is in memory. */
async function warmUp(context: BenchContext, entry: Contestant): Promise<void> {
  const plan = entry.plan();
  if ('requests' in plan)
    await context.load.run({ ...plan, limit: plan.requests.length, seconds: 60, warmupSeconds: 0 });
}

function againstOne(what: 'tokens' | 'checks', results: ReadonlyMap<string, readonly Round[]>): Row {
  const of = (part: 'one' | 'many') => results.get(`${what}, ${part}`) ?? [];
  const rates = (part: 'one' | 'many') => of(part).map((round) => round.perSecond);
  const p95 = (part: 'one' | 'many') => of(part).map((round) => round.latency.p95);
  const [rate, latency] = [medianRatio(rates('many'), rates('one')), medianRatio(p95('many'), p95('one'))];
  const figures = [
    `${percent(rate)} (${perSecond(median(rates('many')))} of ${perSecond(median(rates('one')))})`,
    `p95 ${percent(latency)} (${milliseconds(median(p95('many')))} of ${milliseconds(median(p95('one')))})`,
  ];
  return {
    what: `1,000 boxes with 10 clients each, in turn: ${what}, against one box with 10,000 clients, in turn`,
    goal: '>= 90 %, p95 <= 120 %',
    figure: figures.join(', '),
    verdict: verdictOf(rate >= 0.9 && latency <= 1.2),
  };
}

/** Clients of the boxes that are read, and of the one whose requests warm up the code before. */
interface FirstCallers {
  readonly first: readonly ClientOfBox[];
  readonly whole: readonly ClientOfBox[];
}

/** New replicas, which have compiled their code but read none of the boxes. */
async function firstRequests(context: BenchContext, boxgate: Boxgate, { first, whole }: FirstCallers): Promise<Row> {
  const slowest: number[] = [];
  let refused = 0;
  for (let round = 0; round < Math.min(context.rounds, mostReplicas); round += 1) {
    const replica = await boxgate.replica();
    try {
      const common = { port: replica.port, connections: 64 };
      const warmed = tokenRequests(boxgate, whole);
      await context.load.run({ ...common, requests: warmed, seconds: context.seconds, warmupSeconds: 0 });
      const requests = tokenRequests(boxgate, first);
      const once = { limit: requests.length, rate: arrivals, seconds: 60, warmupSeconds: 0 };
      const report = await context.load.run({ ...common, requests, ...once });
      refused += boxes - (report.statuses['200'] ?? 0);
      slowest.push(report.latency.p99);
    } finally {
      await replica.stop();
    }
  }
  const p99 = median(slowest);
  return {
    what: `the same: p99 of the first token of each box from a replica that has read none, ${arrivals} boxes a second`,
    goal: '< 50 ms',
    figure: refused === 0 ? milliseconds(p99) : `${refused} refused, ${milliseconds(p99)}`,
    verdict: verdictOf(refused === 0 && p99 < 50),
  };
}
