import { setTimeout as pause } from 'node:timers/promises';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import type { Client } from '../../../crds/client.ts';
import { startApi } from '../boxgate.ts';
import type { BenchContext } from '../context.ts';
import { cluster, declare, declareLine, type Declared } from '../declare.ts';
import { median, medianRatio, megabytes, milliseconds, percent, perSecond, whole } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { makeDatabase } from '../machine/database.ts';
import type { BenchPostgres } from '../machine/postgres.ts';
import { cpuOf, residentOf } from '../machine/process-usage.ts';
import { alternate, type Contestant, type Round } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

type Replica = Awaited<ReturnType<typeof startApi>>;

/** An installation on several Postgres, whose boxes are spread evenly over them and have a client each. */
interface Installation {
  readonly name: string;
  readonly boxes: number;
  readonly postgres: readonly BenchPostgres[];
  /** Starts a replica of its API, which serves all of its databases then. */
  start(): Promise<Replica>;
}

/** Boxes of the installation that the large one is compared with. */
const few = 100;
/** Boxes that get tokens. */
const most = 1_000;
/** Names of the databases; the first is home. */
const names = ['home', 'second', 'third', 'fourth'] as const;
const credentials = { id: 'bench', secret: generateClientSecret() };
/** Calls of one round for a changed object. */
const changes = 100;
/** Tokens of each box in use whose memory is measured: after 5 of them, what is measured is garbage of the start. */
const tokensOfBox = 50;
/** As in every comparison of this bench. */
const connections = 64;
/** Tokens before the rounds: a new process still compiles, which on a busy machine is most of what it does. */
const warmUp = 20_000;
const running: Replica[] = [];

/** Many boxes, and several databases: what a replica, a token and a change cost with them. */
export const placements: Scenario = {
  name: 'placements',
  large: true,
  async run(context) {
    try {
      return await measure(context);
    } finally {
      // Some, if one that was measured failed.
      for (const replica of running) await replica.stop();
    }
  },
};

async function measure(context: BenchContext): Promise<Row[]> {
  const postgres = [context.postgres];
  for (const name of names.slice(1)) postgres.push(await context.anotherPostgres(name));
  const two = postgres.slice(0, 2);
  const small = await install(context, 'small', few, two);
  const large = await install(context, 'large', context.boxes, two);
  const rows: Row[] = [];
  const add = (...more: Row[]): void => {
    for (const { what, figure } of more) context.say(`  ${what}: ${figure}`);
    rows.push(...more);
  };
  add(...(await starts(context, small, large)));
  add(await changeOfOne(context, small, large));
  add(await memoryInUse(context, large));
  const spread: Installation[] = [];
  for (const [nth, name] of ['one', 'two', 'three', 'four'].entries()) {
    if (name !== 'three') spread.push(await install(context, name, most, postgres.slice(0, nth + 1)));
  }
  add(...(await tokens(context, spread)));
  return rows;
}

async function install(
  context: BenchContext,
  name: string,
  boxes: number,
  postgres: readonly BenchPostgres[],
): Promise<Installation> {
  context.say(`  ${whole(boxes)} boxes on ${String(postgres.length)} databases`);
  const databases = new Map(
    names.slice(0, postgres.length).map((one, nth) => [one, postgres[nth] ?? context.postgres]),
  );
  const others = new Map([...databases].slice(1));
  const urls = await makeDatabase(context.postgres, name, others);
  const start = (): Promise<Replica> => started(urls);
  const replica = await start();
  for (const database of databases.keys()) {
    await declare(replica.management, `pattern-${database}`, [client()], { database, complete: false });
  }
  await replica.stop();
  for (const [nth, [database, where]] of [...databases].entries()) {
    const at = { pattern: `pattern-${database}`, first: nth, step: databases.size, boxes };
    const [found] = await where.query<{ tables: string[] }>(name, 'SELECT boxgate.tables_of_box() AS tables');
    for (const table of found?.tables ?? []) await copyRows(where, name, table, at);
    await copyRows(context.postgres, name, 'placement', at);
    await where.query(name, 'VACUUM (ANALYZE)');
  }
  return { name, boxes, postgres, start };
}

/** Stores what a table has of the pattern for every box of its database, a second apart as versions go. */
async function copyRows(
  postgres: BenchPostgres,
  database: string,
  table: string,
  { pattern, first, step, boxes }: { pattern: string; first: number; step: number; boxes: number },
): Promise<void> {
  const version = table === 'placement' ? `, 'version', p.version - i * 1000000` : '';
  await postgres.query(
    database,
    `INSERT INTO boxgate."${table}"
     SELECT r.* FROM boxgate."${table}" p, generate_series($2::bigint, $3, $4) i,
            LATERAL jsonb_populate_record(p, jsonb_build_object('box', 'box-' || i${version})) r
      WHERE p.box = $1`,
    [pattern, first, boxes - 1, step],
  );
}

function client(change = ''): Declared {
  const resource: Client = {
    resourceType: 'Client',
    ...credentials,
    grant_types: ['client_credentials'],
    ...(change === '' ? {} : { description: change }),
  };
  return { kind: 'Client', id: credentials.id, resource };
}

function tokenRequests(boxes: number): string[] {
  const grant = { grant_type: 'client_credentials' };
  return Array.from({ length: boxes }, (_, nth) =>
    formRequest(`/boxes/box-${String(nth)}/auth/token`, grant, credentials),
  );
}

/** The start of a replica, and its memory then. */
async function starts(context: BenchContext, small: Installation, large: Installation): Promise<Row[]> {
  const found = { small: [await oneStart(small)], large: [await oneStart(large)] };
  for (let round = 1; round < context.rounds; round += 1) {
    found.small.push(await oneStart(small));
    found.large.push(await oneStart(large));
  }
  const each = (figure: keyof Start): readonly [number[], number[]] => [
    found.large.map((one) => one[figure]),
    found.small.map((one) => one[figure]),
  ];
  const compared = (figure: keyof Start, text: (value: number) => string): string => {
    const [ofLarge, ofSmall] = each(figure);
    return `${medianRatio(ofLarge, ofSmall).toFixed(2)} times (${text(median(ofLarge))} of ${text(median(ofSmall))})`;
  };
  const ratio = medianRatio(...each('time'));
  const what = `with ${whole(large.boxes)} boxes on two databases, against ${whole(few)}`;
  return [
    {
      what: `start of a replica until /readyz names all databases, ${what}`,
      goal: '<= 1.5 times',
      figure: `${compared('time', milliseconds)}; CPU ${compared('cpu', milliseconds)}`,
      verdict: verdictOf(ratio <= 1.5),
    },
    {
      what: `resident memory of a replica after its start, ${what}`,
      goal: 'reported',
      figure: compared('resident', megabytes),
      verdict: 'reported',
    },
  ];
}

interface Start {
  /** Milliseconds: until it was ready, and of a processor. */
  readonly time: number;
  readonly cpu: number;
  /** Bytes. */
  readonly resident: number;
}

async function oneStart(installation: Installation): Promise<Start> {
  const begin = performance.now();
  const replica = await installation.start();
  const time = performance.now() - begin;
  const found = { time, cpu: cpuOf([replica.pid]), resident: residentOf([replica.pid]) };
  await replica.stop();
  return found;
}

/** Starts a replica, and waits until it serves all databases. */
async function started(urls: Readonly<Record<string, string>>): Promise<Replica> {
  const replica = await startApi(urls);
  running.push(replica);
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${String(replica.management.port)}/readyz?verbose`);
    const [, ...databases] = (await response.text()).split('\n');
    if (response.ok && databases.every((line) => line.endsWith(': ok'))) return replica;
    await pause(5);
  }
}

/** Issues so many tokens, a few at once: so that no request waits long until the state of its box is read. */
async function issue({ load }: BenchContext, { port }: Replica, requests: string[], limit: number): Promise<void> {
  const { statuses } = await load.run({ port, connections: 8, requests, limit, seconds: 600, warmupSeconds: 0 });
  // On a busy machine some get 503, and that is no figure here.
  const answers = (statuses[200] ?? 0) + (statuses[503] ?? 0);
  if (answers !== limit) throw new Error(`answers by status ${JSON.stringify(statuses)}`);
}

/** The memory of a replica that has answered as many requests, in one box and in many. */
async function memoryInUse(context: BenchContext, installation: Installation): Promise<Row> {
  const inUse = Math.min(most, installation.boxes);
  const residents = async (boxes: number): Promise<number> => {
    const replica = await installation.start();
    await issue(context, replica, tokenRequests(boxes), inUse * tokensOfBox);
    const bytes = residentOf([replica.pid]);
    await replica.stop();
    return bytes;
  };
  const [many, one]: [number[], number[]] = [[], []];
  for (let round = 0; round < context.rounds; round += 1) {
    many.push(await residents(inUse));
    one.push(await residents(1));
  }
  return {
    what: `resident memory of a replica with ${whole(inUse)} of ${whole(installation.boxes)} boxes in use, against one in use, after as many tokens`,
    goal: '<= 1.2 times',
    figure: `${medianRatio(many, one).toFixed(2)} times (${megabytes(median(many))} of ${megabytes(median(one))})`,
    verdict: verdictOf(medianRatio(many, one) <= 1.2),
  };
}

/** The call of an operator for one Client that was changed. */
async function changeOfOne(context: BenchContext, small: Installation, large: Installation): Promise<Row> {
  const sides = [await changing(large), await changing(small)];
  const figures: Change[][] = [[], []];
  for (let round = 0; round < context.rounds; round += 1) {
    for (const [nth, side] of sides.entries()) figures[nth]?.push(await side.change(round));
  }
  for (const side of sides) await side.stop();
  const [ofLarge = [], ofSmall = []] = figures;
  const compared = (figure: keyof Change): readonly [number[], number[]] => [
    ofLarge.map((one) => one[figure]),
    ofSmall.map((one) => one[figure]),
  ];
  const text = (figure: keyof Change): string => {
    const [many, one] = compared(figure);
    return `${medianRatio(many, one).toFixed(2)} times (${milliseconds(median(many))} of ${milliseconds(median(one))})`;
  };
  const ratio = medianRatio(...compared('cpu'));
  return {
    what: `call of the operator for one changed Client among ${whole(large.boxes)} boxes on two databases, against ${whole(few)}`,
    goal: 'CPU <= 1.2 times',
    figure: `CPU ${text('cpu')}; ${text('time')}`,
    verdict: verdictOf(ratio <= 1.2),
  };
}

/** Milliseconds of one call. */
interface Change {
  readonly time: number;
  readonly cpu: number;
}

async function changing(installation: Installation) {
  const replica = await installation.start();
  const { port, key } = replica.management;
  const management = createManagement({ url: `http://127.0.0.1:${String(port)}`, key: new Secret(key) });
  const { signal } = new AbortController();
  const head = { cluster, epoch: await management.claimEpoch(cluster, signal), complete: false };
  const pids = [replica.pid, ...installation.postgres.map(({ pid }) => pid)];
  return {
    stop: () => replica.stop(),
    async change(round: number): Promise<Change> {
      const times: number[] = [];
      const before = cpuOf(pids);
      for (let nth = 0; nth < changes; nth += 1) {
        const begin = performance.now();
        const box = `box-${String(Math.floor((nth * installation.boxes) / changes))}`;
        const lines = [declareLine(client(`change ${String(round)}`))];
        const results = await management.apply({ box, head, lines }, signal);
        if (results[0]?.result !== 'updated') throw new Error(`not changed: ${JSON.stringify(results)}`);
        times.push(performance.now() - begin);
      }
      return { time: median(times), cpu: (cpuOf(pids) - before) / changes };
    },
  };
}

/** Tokens of many boxes on one, two and four databases, and what their sessions take on disk. */
async function tokens(context: BenchContext, spread: readonly Installation[]): Promise<Row[]> {
  const replicas: Replica[] = [];
  const contestants: Contestant[] = [];
  for (const installation of spread) {
    const replica = await installation.start();
    replicas.push(replica);
    const requests = tokenRequests(installation.boxes);
    await issue(context, replica, requests, warmUp);
    const { port, pid } = replica;
    contestants.push({
      name: installation.name,
      status: 200,
      pids: [pid, ...installation.postgres.map((one) => one.pid)],
      plan: () => ({ port, connections, requests, seconds: context.seconds, warmupSeconds: 0.5 }),
    });
  }
  const results = await alternate(context.load, contestants, context.rounds);
  for (const replica of replicas) await replica.stop();
  const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
  context.say(
    '  All databases share the processors of this machine with the API: the ratios show what placement costs,',
  );
  context.say('  not what further machines add. For that there is the CPU of each process.');
  return [
    ...[...results].map(([name, rounds]): Row => {
      const ratio = medianRatio(rates(name), rates('one'));
      const [api = NaN, ...databases] = (rounds[0]?.cpuOfEach ?? []).map((_, nth) => cpuOf1000(rounds, nth));
      return {
        what: `tokens of ${whole(most)} boxes on databases: ${name}, all on the processors of the API`,
        goal: name === 'one' ? 'reported' : '>= 80 % of one',
        figure: `${perSecond(median(rates(name)))}, ${percent(ratio)} of one; CPU seconds for 1,000 tokens: API ${api.toFixed(3)}, Postgres ${databases.map((cpu) => cpu.toFixed(3)).join(' + ')}`,
        verdict: name === 'one' ? 'reported' : verdictOf(ratio >= 0.8),
      };
    }),
    await sessionsRow(spread),
  ];
}

/** Milliseconds of one answer are seconds of a thousand. */
function cpuOf1000(rounds: readonly Round[], process: number): number {
  return median(rounds.map(({ cpuOfEach }) => cpuOfEach[process] ?? NaN));
}

async function sessionsRow([first]: readonly Installation[]): Promise<Row> {
  const [found] =
    (await first?.postgres[0]?.query<{ sessions: string; bytes: string }>(
      first.name,
      `SELECT sum(pg_total_relation_size(inhrelid)) AS bytes, (SELECT count(*) FROM boxgate.session) AS sessions
         FROM pg_inherits WHERE inhparent = 'boxgate.session'::regclass AND pg_relation_size(inhrelid) > 0`,
    )) ?? [];
  const [sessions, bytes] = [Number(found?.sessions), Number(found?.bytes)];
  return {
    what: `disk for a million live sessions of ${whole(most)} boxes, with indexes`,
    goal: 'reported',
    figure: `${megabytes((bytes / sessions) * 1e6)} (extrapolated from ${whole(sessions)})`,
    verdict: 'reported',
  };
}
