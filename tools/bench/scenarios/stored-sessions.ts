import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, whole } from '../figures.ts';
import { introspections } from '../introspections.ts';
import { formRequest } from '../load/requests.ts';
import { medianRatio } from '../median.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';
import { buffersOfCheck, buffersOfIssue, dropTime, storeSessions } from '../stored-sessions.ts';

/** A million sessions stored. */
export const millionSessions: Scenario = { name: 'million-sessions', run: (context) => compare(context, 1_000_000) };

/** Ten million sessions stored. */
export const tenMillionSessions: Scenario = {
  name: 'ten-million-sessions',
  large: true,
  run: (context) => compare(context, 10_000_000),
};

async function compare(context: BenchContext, count: number): Promise<Row[]> {
  const empty = await context.boxgate('empty');
  const full = await context.boxgate(`full_${count}`);
  const seconds = await storeSessions(context, full, count);
  context.say(`  ${whole(count)} sessions stored in ${seconds.toFixed(0)} s`);
  const issue = await ratioOf(context, empty, full, issueRequests);
  const check = await ratioOf(context, empty, full, checkRequests);
  const buffers = {
    issue: [await buffersOfIssue(context, empty), await buffersOfIssue(context, full)],
    check: [await buffersOfCheck(context, empty), await buffersOfCheck(context, full)],
  } as const;
  const same = buffers.issue[1] <= buffers.issue[0] && buffers.check[1] <= buffers.check[0];
  const met = Math.abs(issue - 1) <= 0.1 && Math.abs(check - 1) <= 0.1;
  return [
    {
      what: `${whole(count)} sessions stored, all partitions there: rate of issue and check against an empty table`,
      goal: 'within 10 %',
      figure: `issue ${percent(issue)}, check ${percent(check)}`,
      // Faster than on an empty table is noise or luck, and no harm.
      verdict: verdictOf(met || (issue >= 0.9 && check >= 0.9)),
    },
    {
      what: `the same: buffers of one statement in EXPLAIN, empty and full`,
      goal: 'no more in the full one',
      figure: `issue ${buffers.issue.join(' and ')}, check ${buffers.check.join(' and ')}`,
      verdict: verdictOf(same),
    },
    {
      what: `${whole(count)} sessions of a day that is over`,
      goal: 'a partition drop',
      figure: milliseconds(await dropTime(context, full, count)),
      verdict: 'reported',
    },
  ];
}

/** Median of full / empty, round by round. */
async function ratioOf(
  context: BenchContext,
  empty: Boxgate,
  full: Boxgate,
  requests: (boxgate: Boxgate) => Promise<string[]>,
): Promise<number> {
  const contestants = [
    contestant(context, 'empty', empty, await requests(empty)),
    contestant(context, 'full', full, await requests(full)),
  ];
  const results = await alternate(context.load, contestants, context.rounds);
  const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
  return medianRatio(rates('full'), rates('empty'));
}

async function issueRequests(boxgate: Boxgate): Promise<string[]> {
  return [formRequest(boxgate.path('/auth/token'), { grant_type: 'client_credentials' }, boxgate.clients.opaque)];
}

function checkRequests(boxgate: Boxgate): Promise<string[]> {
  return introspections(boxgate, boxgate.clients.opaque, 1_000);
}
