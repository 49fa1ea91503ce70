import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import type { Declared } from '../declare.ts';
import { megabytes } from '../figures.ts';
import { formRequest, type Credentials } from '../load/requests.ts';
import { residentOf } from '../machine/process-usage.ts';
import { median } from '../median.ts';
import { alternate, type Contestant } from '../rounds.ts';
import type { Row, Scenario } from '../scenario.ts';

const clients = 10_000;

/** The needs of an installation: the processor of each part at a rate, and the memory of the API for clients in use. */
export const sizing: Scenario = {
  name: 'sizing',
  async run(context) {
    const boxgate = await context.boxgate('sizing');
    return [...(await processor(context, boxgate)), await memory(boxgate)];
  },
};

/** At full load, where batches are full: at a lower rate each request has less company, and costs more. */
async function processor(context: BenchContext, boxgate: Boxgate): Promise<Row[]> {
  const [token = ''] = await boxgate.issue(boxgate.clients.opaque, 1);
  const grant = { grant_type: 'client_credentials' };
  const requests = {
    tokens: formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.opaque),
    'checks of tokens': formRequest(boxgate.path('/auth/introspect'), { token }, boxgate.clients.opaque),
  };
  const parts = { API: boxgate.pid, Postgres: context.postgres.pid };
  const contestants = Object.entries(requests).flatMap(([what, request]) =>
    Object.entries(parts).map(([part, pid]): Contestant => ({
      ...contestant(context, `${what}, ${part}`, boxgate, [request]),
      pids: [pid],
    })),
  );
  const results = await alternate(context.load, contestants, context.rounds);
  return Object.keys(requests).map((what) => {
    const spent = Object.keys(parts).map((part) => {
      const each = median(results.get(`${what}, ${part}`)?.map((round) => round.cpuPerAnswer) ?? []);
      // So many milliseconds for each of a thousand in a second are so many seconds of a processor in a second.
      return `${part} ${each.toFixed(3)}`;
    });
    return {
      what: `processors for 1,000 ${what} a second`,
      goal: 'reported',
      figure: spent.join(', '),
      verdict: 'reported',
    };
  });
}

/** After the load above the heap of the API has grown to what it keeps. */
async function memory(boxgate: Boxgate): Promise<Row> {
  const before = residentOf([boxgate.pid]);
  const many = Array.from({ length: clients }, (_, nth): Credentials => ({
    id: `sizing-${String(nth)}`,
    secret: generateClientSecret(),
  }));
  await boxgate.add(many.map(declared));
  for (const client of many) await boxgate.issue(client, 1);
  const after = residentOf([boxgate.pid]);
  const each = `${megabytes((after - before) / (clients / 1_000))} for 1,000 clients`;
  return {
    what: 'resident memory of one replica of the API, before and after 10,000 clients have used it',
    goal: 'reported',
    figure: `${megabytes(before)}, ${megabytes(after)}: ${each}`,
    verdict: 'reported',
  };
}

function declared({ id, secret }: Credentials): Declared {
  return { kind: 'Client', id, resource: { resourceType: 'Client', id, secret, grant_types: ['client_credentials'] } };
}
