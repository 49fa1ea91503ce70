import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { percent, perSecond } from '../figures.ts';
import { introspections } from '../introspections.ts';
import { bearerRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { followNext } from '../next-pages.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';
import { storeAuditEvents, storeGrants } from '../stored-records.ts';
import { storeSessions } from '../stored-sessions.ts';
import { noPassword, storeUsers } from '../stored-users.ts';

/** BOXGATE_BENCH_RECORDS: fewer of each, to try the scenario. */
const records = Number(process.env['BOXGATE_BENCH_RECORDS'] ?? 1_000_000);
/** The page that must be as fast as the first. */
const FAR = 1_000;
const TOKENS = 1_000;

/** Lists with a million records each, in pages of ten: the first one, and the thousandth that `next` leads to. */
export const millionPages: Scenario = {
  name: 'million-pages',
  async run(context) {
    const boxgate = await context.boxgate('pages');
    await storeUsers(context, boxgate, records, noPassword);
    await storeGrants(context, boxgate, boxgate.clients.opaque.id);
    await storeAuditEvents(context, boxgate, records);
    await storeSessions(context, boxgate, records);
    const rows: Row[] = [];
    for (const list of ['/Session', '/AuditEvent', '/users', '/Grant']) rows.push(...(await measure(context, list)));
    return rows;
  },
};

async function measure(context: BenchContext, list: string): Promise<Row[]> {
  const boxgate = await context.boxgate('pages');
  const { reader, opaque } = boxgate.clients;
  const [token = ''] = await boxgate.issue(reader, 1);
  const pages = await followNext(boxgate, token, boxgate.path(`${list}?_count=10`), FAR);
  const [first = '', last = ''] = [pages[0], pages.at(-1)];
  const results = await alternate(
    context.load,
    [
      contestant(context, 'introspection', boxgate, await introspections(boxgate, opaque, TOKENS)),
      contestant(context, 'first', boxgate, [bearerRequest(first, token)]),
      contestant(context, 'far', boxgate, [bearerRequest(last, token)]),
    ],
    context.rounds,
  );
  const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
  const ofIntrospection = medianRatio(rates('first'), rates('introspection'));
  const ofFirst = medianRatio(rates('far'), rates('first'));
  return [
    {
      what: `\`GET ${list}\` with ${records.toLocaleString('en-US')} stored, first page of 10, against introspection`,
      goal: '>= 25 %',
      figure: `${percent(ofIntrospection)} (${perSecond(median(rates('first')))})`,
      verdict: verdictOf(ofIntrospection >= 0.25),
    },
    {
      what: `\`GET ${list}\`, page ${pages.length.toLocaleString('en-US')} of these by \`next\`, against the first`,
      goal: '>= 90 %',
      figure: `${percent(ofFirst)} (${perSecond(median(rates('far')))})`,
      verdict: verdictOf(ofFirst >= 0.9),
    },
  ];
}
