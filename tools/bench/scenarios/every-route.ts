import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { oauthRows } from '../routes/oauth-rows.ts';
import { pageRows } from '../routes/page-rows.ts';
import { resourceRows } from '../routes/resource-rows.ts';
import { nameOf, type Reference, type RouteRow } from '../routes/row.ts';
import { openRouteWorld, type RouteWorld } from '../routes/world.ts';
import { median, medianRatio } from '../median.ts';
import { alternate, type Contestant, type Round } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

/** A row for every route of the API, and for every grant. */
export const routeRows: readonly RouteRow[] = [...oauthRows, ...pageRows, ...resourceRows];

/** The rows that others are compared with. */
const references: Readonly<Record<Reference, string>> = {
  token: '`POST /auth/token`, client_credentials, opaque',
  introspection: '`POST /auth/introspect`, opaque token',
};

/** Rows that are printed as the slowest. */
const SLOWEST = 10;

/** Every route, beside an opaque token or an introspection, in several rounds if it has a goal, else in one. */
export const everyRoute: Scenario = {
  name: 'every-route',
  table: 'bench-routes',
  async run(context) {
    const world = await openRouteWorld(context);
    const found: Measured[] = [];
    for (const row of routeRows) {
      const measured = await measure(context, world, row);
      found.push(measured);
      context.say(`  ${figure(measured)}  ${nameOf(row)}`);
    }
    context.say('  slowest against their goal, or against introspection without one:');
    for (const one of slowest(found)) context.say(`  ${figure(one)}  ${nameOf(one.row)}`);
    return found.map(tableRow);
  },
};

/** A row, and its rate against that of its reference: medians of its rounds. */
interface Measured {
  readonly row: RouteRow;
  readonly perSecond: number;
  /** Milliseconds of API and Postgres. */
  readonly cpu: number;
  readonly of: Reference;
  readonly ratio: number;
}

/**
 * Measures a row. What can be served once only is requested again in each round; it has no warm-up, so the first of
 * several rounds is one.
 */
async function measure(context: BenchContext, world: RouteWorld, row: RouteRow): Promise<Measured> {
  const of = row.goal?.of ?? 'introspection';
  const reference = await loadOf(context, world, referenceRow(of));
  const several = row.goal !== undefined && context.rounds > 1;
  const count = several ? context.rounds + (row.isOnce ? 1 : 0) : 1;
  const rounds: { readonly one: Round; readonly other: Round }[] = [];
  let entry = await loadOf(context, world, row);
  for (let nth = 0; nth < count; nth += 1) {
    if (nth > 0 && row.isOnce) entry = await loadOf(context, world, row);
    rounds.push({ other: await roundOf(context, reference), one: await roundOf(context, entry) });
  }
  const counted = several && row.isOnce ? rounds.slice(1) : rounds;
  const rates = counted.map(({ one }) => one.perSecond);
  const others = counted.map(({ other }) => other.perSecond);
  const cpu = median(counted.map(({ one }) => one.cpuPerAnswer));
  return { row, of, perSecond: median(rates), cpu, ratio: medianRatio(rates, others) };
}

function referenceRow(reference: Reference): RouteRow {
  const row = routeRows.find((one) => nameOf(one) === references[reference]);
  if (row === undefined) throw new Error(`there is no row ${references[reference]}`);
  return row;
}

async function roundOf({ load }: BenchContext, entry: Contestant): Promise<Round> {
  const [round] = (await alternate(load, [entry], 1)).get(entry.name) ?? [];
  if (round === undefined) throw new Error(`${entry.name} was not measured`);
  return round;
}

async function loadOf(context: BenchContext, world: RouteWorld, row: RouteRow): Promise<Contestant> {
  const requests = [...(await row.requests(world))];
  if (requests.length === 0) throw new Error(`${nameOf(row)}: there is nothing to ask`);
  const entry = contestant(context, nameOf(row), world.boxgate, requests, row.connections);
  const common = { ...entry, status: row.status ?? 200 };
  const seconds = Math.min(1, context.seconds);
  // What can be served once only is driven to its end.
  const time = row.isOnce ? { seconds: 60, warmupSeconds: 0, limit: requests.length } : { seconds };
  return { ...common, plan: () => ({ ...common.plan(), ...time }) };
}

function slowest(found: readonly Measured[]): readonly Measured[] {
  const shortfall = ({ row, ratio }: Measured) => ratio / (row.goal?.least ?? 1);
  return found.toSorted((one, other) => shortfall(one) - shortfall(other)).slice(0, SLOWEST);
}

function figure({ perSecond: rate, cpu, ratio, of }: Measured): string {
  return `${perSecond(rate)}, ${percent(ratio)} of ${of}; CPU ${milliseconds(cpu)}`;
}

function tableRow(measured: Measured): Row {
  const { row, ratio } = measured;
  const common = { what: nameOf(row), figure: figure(measured) };
  if (row.goal === undefined) return { ...common, goal: 'reported', verdict: 'reported' };
  const { of, least } = row.goal;
  return { ...common, goal: `>= ${percent(least)} of ${of}`, verdict: verdictOf(ratio >= least) };
}
