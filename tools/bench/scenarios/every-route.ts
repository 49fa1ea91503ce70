import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { oauthRows } from '../routes/oauth-rows.ts';
import { pageRows } from '../routes/page-rows.ts';
import { resourceRows } from '../routes/resource-rows.ts';
import { nameOf, type Reference, type RouteRow } from '../routes/row.ts';
import { openRouteWorld, type RouteWorld } from '../routes/world.ts';
import { alternate, type Contestant, type Round } from '../rounds.ts';
import { judged, type Row, type Scenario } from '../scenario.ts';

/** A row for every route of the API, and for every grant. */
export const routeRows: readonly RouteRow[] = [...oauthRows, ...pageRows, ...resourceRows];

/** The rows that others are compared with. */
const references: Readonly<Record<Reference, string>> = {
  token: '`POST /auth/token`, client_credentials, opaque',
  introspection: '`POST /auth/introspect`, opaque token',
};

/** After so many rows the references are measured again: the machine does not stay the same. */
const ROWS_BETWEEN = 8;

/** Rows that are printed as the slowest. */
const SLOWEST = 10;

/** Every route for a second, each against a token or an introspection of the same minute. */
export const everyRoute: Scenario = {
  name: 'every-route',
  table: 'bench-routes',
  async run(context) {
    const world = await openRouteWorld(context);
    let rates = await referenceRates(context, world);
    const found: Measured[] = [];
    for (const [nth, row] of routeRows.entries()) {
      if (nth > 0 && nth % ROWS_BETWEEN === 0) rates = await referenceRates(context, world);
      const round = await measure(context, world, row);
      const of = row.goal?.of ?? 'introspection';
      const measured = { row, round, of, ratio: round.perSecond / rates[of] };
      found.push(measured);
      context.say(`  ${figure(measured)}  ${nameOf(row)}`);
    }
    context.say('  slowest against their goal, or against introspection without one:');
    for (const one of slowest(found)) context.say(`  ${figure(one)}  ${nameOf(one.row)}`);
    return found.map(tableRow);
  },
};

/** A row, and its rate against that of its reference. */
interface Measured {
  readonly row: RouteRow;
  readonly round: Round;
  readonly of: Reference;
  readonly ratio: number;
}

async function referenceRates(context: BenchContext, world: RouteWorld): Promise<Readonly<Record<Reference, number>>> {
  const rateOf = async (reference: Reference): Promise<number> => {
    const row = routeRows.find((one) => nameOf(one) === references[reference]);
    if (row === undefined) throw new Error(`there is no row ${references[reference]}`);
    return (await measure(context, world, row)).perSecond;
  };
  return { token: await rateOf('token'), introspection: await rateOf('introspection') };
}

async function measure(context: BenchContext, world: RouteWorld, row: RouteRow): Promise<Round> {
  const requests = [...(await row.requests(world))];
  if (requests.length === 0) throw new Error(`${nameOf(row)}: there is nothing to ask`);
  const entry = loadOf(context, world, row, requests);
  const [round] = (await alternate(context.load, [entry], 1)).get(entry.name) ?? [];
  if (round === undefined) throw new Error(`${nameOf(row)} was not measured`);
  return round;
}

function loadOf(context: BenchContext, { boxgate }: RouteWorld, row: RouteRow, requests: string[]): Contestant {
  const entry = contestant(context, nameOf(row), boxgate, requests, row.connections);
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

function figure({ round, ratio, of }: Measured): string {
  return `${perSecond(round.perSecond)}, ${percent(ratio)} of ${of}; CPU ${milliseconds(round.cpuPerAnswer)}`;
}

function tableRow(measured: Measured): Row {
  const { row, ratio } = measured;
  const common = { what: nameOf(row), figure: figure(measured) };
  if (row.goal === undefined) return { ...common, goal: 'reported', verdict: 'reported' };
  const { of, least } = row.goal;
  return { ...common, goal: `>= ${percent(least)} of ${of}`, verdict: judged(ratio >= least) };
}
