import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import type { Declared } from '../declare.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { resourceRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate, type Contestant, type Round } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

/** Connections that write: all of them wait for the row of the box. */
const writers = 16;

/** Boxes, and the clients that each has; the floor has the same. */
const boxes = { few: 10, many: 10_000 } as const;

type BoxName = keyof typeof boxes;

/** Clients that are changed in turn: as many in each box. */
const changed = 10;

const administrator = { id: 'administrator', secret: generateClientSecret() };

/** Changes of clients over REST, in a small and in a large box, against a bare transaction with the same statements. */
export const putClient: Scenario = {
  name: 'put-client',
  async run(context) {
    const boxgate = await context.boxgate('changes');
    const contestants = [
      ...(await Promise.all([onFloor(context, 'few'), onFloor(context, 'many')])),
      await onBoxgate(context, boxgate, 'few'),
      await onBoxgate(context, boxgate, 'many'),
    ];
    const results = await alternate(context.load, contestants, context.rounds);
    return [againstFloor(results, 'few'), againstFloor(results, 'many'), againstFew(results)];
  },
};

async function onFloor(context: BenchContext, box: BoxName): Promise<Contestant> {
  const requests = requestsFor((id) => `/boxes/${box}/Client/${id}`, 'nobody');
  return contestant(context, `floor ${box}`, await context.floor('put-client'), requests, writers);
}

async function onBoxgate(context: BenchContext, boxgate: Boxgate, box: BoxName): Promise<Contestant> {
  await boxgate.addTo(box, declared(boxes[box]));
  const [token = ''] = await boxgate.issueIn(box, administrator, 1);
  const requests = requestsFor((id) => boxgate.pathIn(box, `/Client/${id}`), token);
  // A declared client is changed where it is declared: the changed ones are created over REST, before they count.
  const first = { port: boxgate.port, connections: 1, requests, seconds: 60, warmupSeconds: 0, limit: changed };
  await context.load.run(first);
  return contestant(context, `boxgate ${box}`, boxgate, requests, writers);
}

/** So many clients with those that are changed, and an administrator. */
function declared(count: number): Declared[] {
  const { id, secret } = administrator;
  const others = Array.from({ length: count - changed }, (_, nth) => `other-${nth}`);
  return [
    client(id, secret),
    ...others.map((other) => client(other, generateClientSecret())),
    {
      kind: 'AccessPolicy',
      id,
      resource: { resourceType: 'AccessPolicy', id, engine: 'allow', link: [{ resourceType: 'Client', id }] },
    },
  ];
}

function client(id: string, secret: string): Declared {
  return { kind: 'Client', id, resource: { resourceType: 'Client', id, secret, grant_types: ['client_credentials'] } };
}

/** Two turns: each change changes something. */
function requestsFor(pathOf: (id: string) => string, token: string): string[] {
  const ids = Array.from({ length: changed }, (_, nth) => `client-${nth}`);
  return [0, 1].flatMap((turn) =>
    ids.map((id) => {
      const fields = { grant_types: ['client_credentials'], secret, description: `of turn ${turn}` };
      return resourceRequest(['PUT', pathOf(id)], token, JSON.stringify({ resourceType: 'Client', id, ...fields }));
    }),
  );
}

/** Not a chosen one: to store it is to hash it with argon2. */
const secret = generateClientSecret();

type Results = ReadonlyMap<string, readonly Round[]>;

function againstFloor(results: Results, box: BoxName): Row {
  const rates = (server: string): number[] => results.get(`${server} ${box}`)?.map((round) => round.perSecond) ?? [];
  const cpu = (server: string): string =>
    milliseconds(median(results.get(`${server} ${box}`)?.map((round) => round.cpuPerAnswer) ?? []));
  const ratio = medianRatio(rates('boxgate'), rates('floor'));
  const of = `${perSecond(median(rates('boxgate')))} of ${perSecond(median(rates('floor')))}`;
  return {
    what: `\`PUT /Client/<id>\` in a box of ${boxes[box].toLocaleString('en-US')} clients, against a bare transaction with the same statements`,
    goal: '>= 50 %',
    figure: `${percent(ratio)} (${of}; CPU ${cpu('boxgate')} of ${cpu('floor')})`,
    verdict: verdictOf(ratio >= 0.5),
  };
}

function againstFew(results: Results): Row {
  const rates = (box: BoxName): number[] => results.get(`boxgate ${box}`)?.map((round) => round.perSecond) ?? [];
  const ratio = medianRatio(rates('many'), rates('few'));
  return {
    what: 'the same: the box of 10,000 clients, against the box of 10',
    goal: 'within 20 %',
    figure: percent(ratio),
    // Faster than in a small box is noise or luck, and no harm.
    verdict: verdictOf(ratio >= 0.8),
  };
}
