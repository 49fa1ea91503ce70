import { contestant, tokenFloor } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { median, medianRatio, milliseconds, percent, perSecond } from '../figures.ts';
import { hotRows, prepareHotRows, requestsOf, statusOf, type Address } from '../hot-rows.ts';
import { formRequest } from '../load/requests.ts';
import { alternate, type Contestant, type Round } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

/** Names of the servers beside which the rows of the hot lane are measured. */
const floors = { constant: 'express', write: 'insert-batched', read: 'select-batched' } as const;

/** The rows that have a goal against a server: the least ratio. Each other is reported beside the opaque token. */
const goals: Readonly<Record<string, readonly [floor: 'write' | 'read', least: number]>> = {
  'opaque by path': ['write', 0.9],
  'jwt by path': ['write', 0.5],
  'introspection by path': ['read', 0.7],
  'check by path': ['read', 0.7],
};

/** Requests of apps, by path and by host, beside an express that does the least. */
export const hotLane: Scenario = {
  name: 'hot-lane',
  async run(context) {
    const boxgate = await context.boxgate('hot', { BOXGATE_STANDALONE: 'true' });
    await prepareHotRows(boxgate);
    const contestants = [
      await tokenFloor(context, floors.constant),
      await tokenFloor(context, floors.write),
      await readFloor(context),
    ];
    for (const [name, row] of Object.entries(hotRows)) {
      for (const address of ['path', 'host'] satisfies readonly Address[]) {
        const requests = await requestsOf(row, boxgate, address);
        const common = contestant(context, `${name} by ${address}`, boxgate, requests);
        contestants.push({ ...common, status: statusOf(name) });
      }
    }
    // Otherwise the plans change at some moment of the rounds, when the statistics are collected.
    await context.postgres.query(boxgate.database, 'ANALYZE');
    const results = await alternate(context.load, contestants, context.rounds);
    return [...results]
      .filter(([name]) => !Object.values<string>(floors).includes(name))
      .map((row) => rowOf(row, results));
  },
};

function rowOf([name, rounds]: readonly [string, Round[]], results: ReadonlyMap<string, Round[]>): Row {
  const rates = (of: string): number[] => results.get(of)?.map(({ perSecond: rate }) => rate) ?? [];
  const cpu = median(rounds.map(({ cpuPerAnswer }) => cpuPerAnswer));
  const p99 = median(rounds.map(({ latency }) => latency.p99));
  const [floor, least] = goals[name] ?? [undefined, 0];
  const other = floor === undefined ? 'opaque by path' : floors[floor];
  const ratio = medianRatio(rates(name), rates(other));
  return {
    what: name,
    goal: floor === undefined ? 'reported' : `>= ${percent(least)} of ${other}`,
    figure: `${perSecond(median(rates(name)))}, ${percent(ratio)} of ${other}; CPU ${milliseconds(cpu)}, p99 ${milliseconds(p99)}`,
    verdict: floor === undefined ? 'reported' : verdictOf(ratio >= least),
  };
}

async function readFloor(context: BenchContext): Promise<Contestant> {
  const server = await context.floor(floors.read);
  const rows = await context.postgres.query<{ id: string }>(
    `floor_${floors.read}`,
    `INSERT INTO session
     SELECT gen_random_uuid(), md5(i::text), 'bench', now() + interval '1 hour' FROM generate_series(1, 2000) i
     RETURNING id`,
  );
  const requests = rows.map(({ id }) => formRequest('/auth/introspect', { token: id }));
  return contestant(context, floors.read, server, requests);
}
