import { fileURLToPath } from 'node:url';
import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import { isObject } from '../../../crds/json-value.ts';
import type { Boxgate } from '../boxgate.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, perSecond } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import { cpuOf } from '../machine/process-usage.ts';
import { startServer, type ServerProcess } from '../machine/server-process.ts';
import { median } from '../median.ts';
import { alternate } from '../rounds.ts';
import type { Row, Scenario } from '../scenario.ts';

/** Numbers of API processes that are compared. */
const sizes = [1, 2, 4];

/** Connections of the callers. */
const connections = 64;

/** Refresh tokens that are used in turn: two uses of one at once would wait for each other. */
const families = 256;

const balancer = fileURLToPath(new URL('../balancer.ts', import.meta.url));
const refreshing = { id: 'bench-refreshing', secret: generateClientSecret() };

/** API processes behind one balancer of connections: one, two and four. */
export const balanced: Scenario = {
  name: 'balanced',
  async run(context) {
    const boxgate = await context.boxgate('balanced');
    const requests = await requestsOf(boxgate);
    const started: ServerProcess[] = [];
    try {
      const replicas: ServerProcess[] = [boxgate];
      while (replicas.length < Math.max(...sizes)) {
        const replica = await boxgate.replica();
        started.push(replica);
        replicas.push(replica);
      }
      const groups: Group[] = [];
      for (const size of sizes) {
        const behind = replicas.slice(0, size);
        const front = await startServer([balancer, ...behind.map(({ port }) => String(port))], {});
        started.push(front);
        groups.push({ size, front, behind });
      }
      const rows: Row[] = [];
      for (const [what, some] of Object.entries(requests)) rows.push(await grow(context, what, some, groups));
      return rows;
    } finally {
      await Promise.all(started.map((server) => server.stop()));
    }
  },
};

/** So many API processes, and the balancer before them. */
interface Group {
  readonly size: number;
  readonly front: ServerProcess;
  readonly behind: readonly ServerProcess[];
}

async function requestsOf(boxgate: Boxgate): Promise<Readonly<Record<string, string[]>>> {
  const { opaque } = boxgate.clients;
  const grant = { grant_type: 'client_credentials' };
  const auth = { client_credentials: { refresh_token: true } };
  const fields = { secret: refreshing.secret, grant_types: ['client_credentials' as const], auth };
  const { id } = refreshing;
  await boxgate.add([{ kind: 'Client', id, resource: { resourceType: 'Client', id, ...fields } }]);
  const [token = ''] = await boxgate.issue(opaque, 1);
  const refreshes: string[] = [];
  while (refreshes.length < families) {
    const refresh = { grant_type: 'refresh_token', refresh_token: await refreshToken(boxgate, grant) };
    refreshes.push(formRequest(boxgate.path('/auth/token'), refresh, refreshing));
  }
  return {
    tokens: [formRequest(boxgate.path('/auth/token'), grant, opaque)],
    checks: [formRequest(boxgate.path('/auth/introspect'), { token }, opaque)],
    refreshes,
  };
}

/** Issues a refresh token, which may be used again and again. */
async function refreshToken(boxgate: Boxgate, grant: Record<string, string>): Promise<string> {
  const url = `http://127.0.0.1:${boxgate.port}${boxgate.path('/auth/token')}`;
  const headers = { Authorization: `Basic ${btoa(`${refreshing.id}:${refreshing.secret}`)}` };
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(grant) });
  const answer: unknown = await response.json();
  if (!isObject(answer) || !('refresh_token' in answer)) throw new Error(`no refresh token: ${JSON.stringify(answer)}`);
  return String(answer['refresh_token']);
}

/** One round of a group: requests a second, and the CPU of each part for one of them, milliseconds. */
interface Round {
  readonly rate: number;
  readonly api: number;
  readonly balancer: number;
  readonly postgres: number;
}

/** Lets the groups take turns, and tells how rate and CPU grow with their size. */
async function grow(context: BenchContext, what: string, requests: string[], groups: readonly Group[]): Promise<Row> {
  const rounds = new Map<number, Round[]>(groups.map(({ size }) => [size, []]));
  for (let nth = 0; nth < context.rounds; nth += 1) {
    for (const group of groups) rounds.get(group.size)?.push(await oneRound(context, requests, group));
  }
  const figures = groups.map(({ size }) => {
    const of = (part: keyof Round): number => median(rounds.get(size)?.map((round) => round[part]) ?? []);
    const cpu = `API ${milliseconds(of('api'))}, balancer ${milliseconds(of('balancer'))}, Postgres ${milliseconds(of('postgres'))}`;
    return `${size}: ${perSecond(of('rate'))} (CPU of ${cpu})`;
  });
  return {
    what: `${what} of one, two and four API processes behind one balancer of connections, on two cores with Postgres and the callers`,
    goal: 'reported',
    figure: figures.join('. '),
    verdict: 'reported',
  };
}

async function oneRound(context: BenchContext, requests: string[], { front, behind }: Group): Promise<Round> {
  const parts = [behind.map(({ pid }) => pid), [front.pid], [context.postgres.pid]];
  const before = parts.map((pids) => cpuOf(pids));
  const plan = { port: front.port, connections, requests, seconds: context.seconds, warmupSeconds: 0.5 };
  const entry = { name: 'balanced', status: 200, pids: [], plan: () => plan };
  const [round] = (await alternate(context.load, [entry], 1)).get(entry.name) ?? [];
  if (round === undefined) throw new Error('nothing was measured');
  const [api = NaN, balancing = NaN, postgres = NaN] = parts.map(
    (pids, nth) => (cpuOf(pids) - (before[nth] ?? NaN)) / round.answersWithWarmUp,
  );
  return { rate: round.perSecond, api, balancer: balancing, postgres };
}
