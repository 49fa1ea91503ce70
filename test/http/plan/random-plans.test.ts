import { expect } from 'chai';
import pg from 'pg';
import { isList, isObject } from '../../../crds/path.ts';
import { seededRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import type { DeclaredResource } from '../../support/api.ts';
import { storeToken } from '../../support/stored-token.ts';
import { randomPolicy } from '../explain/random-policy.ts';
import { randomRequest } from '../explain/random-request.ts';
import type { MadeRequest, Places } from '../explain/random-request.ts';
import { questionSubject, randomSubject } from '../explain/random-subject.ts';
import { queryText, questionRequest, realRequest } from '../explain/real-request.ts';
import { startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

const rounds = Number(process.env['BOXGATE_PLANS'] ?? 15);
/** Requests that are compared in one plan. */
const ofOnePlan = 20;
const issuer = 'http://boxgate.test/boxes/default';
const policyIds = ['p1', 'p2', 'p3', 'p4'];

/** A request with its token, and the question about it. */
interface Asked {
  readonly request: MadeRequest;
  readonly token: string | undefined;
  readonly question: object;
}

describe('POST /$plan, asked about random policies and requests', () => {
  let api: BoxApi;
  let pool: pg.Pool;
  let places: Places;

  before(async () => {
    api = await startBoxApi();
    pool = new pg.Pool({ connectionString: api.database.ownerUrl, max: 1 });
    await api.declare('default', [orders(true), web, { kind: 'Box', id: 'default' }]);
    const groups = [await made('/Group', { name: 'staff' }), await made('/Group', { name: 'others' })] as const;
    const person = { data: '{"a": 1}', password: 'correct horse' };
    const users = [
      await made('/users', { ...person, email: 'ann@mail.example', 'group-ids': [groups[0]] }),
      await made('/users', { ...person, email: 'bob@mail.example' }),
    ] as const;
    const victim = { box: 'default', client: 'web', user: users[1], scope: null, audience: null };
    places = { users, groups, issuer, sessions: [(await storeToken(pool, victim)).session] };
  });
  after(async () => {
    await pool.end();
    await api.stop();
  });

  const made = async (path: string, body: object): Promise<number> =>
    Number(Reflect.get(Object((await api.call('POST', path, { body })).body), 'id'));

  const random = seededRandom();

  it(`gives the verdicts of the API after the apply, ${String(rounds)} times, seed ${String(random.seed)}`, async () => {
    const seen = { lost: 0, gained: 0, same: 0 };
    let present: readonly DeclaredResource[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const wanted = randomState(random, places);
      const asked = await randomRequests(api, { pool, places }, random);
      const planned = await plan(api, wanted, asked);
      const before = await verdicts(api, asked);
      await apply(api, present, wanted);
      present = wanted;
      const after = await verdicts(api, asked);
      for (const [index, { question }] of asked.entries()) {
        const effect = effectOf(before[index] === true, after[index] === true);
        seen[effect ?? 'same'] += 1;
        expect(planned.get(index), JSON.stringify({ wanted, question, round })).to.equal(effect);
      }
    }
    for (const [effect, times] of Object.entries(seen)) expect(times, effect).to.be.greaterThan(0);
  });
});

function orders(active: boolean): DeclaredResource {
  const grants = { grant_types: ['client_credentials'], scope: ['read', 'write'], secret: 's3cr3t' };
  return { kind: 'Client', id: 'orders', ...grants, details: { a: 1 }, ...(active ? {} : { active }) };
}

const code = { redirect_uri: 'https://app.example/back', audience: [issuer, 'https://files.example'] };
const scope = ['openid', 'boxgate', 'boxgate.all'];
const web: DeclaredResource = {
  kind: 'Client',
  id: 'web',
  grant_types: ['authorization_code'],
  scope,
  auth: { authorization_code: code },
};

/** Makes what is declared next: random policies, a client that may be inactive, and settings. */
function randomState(random: Random, places: Places): readonly DeclaredResource[] {
  const policies = policyIds
    .filter(() => random.below(4) !== 0)
    .map((id) => ({ ...randomPolicy(random, places), kind: 'AccessPolicy', id }) as const);
  const compatibility = { foreign_audience: random.below(4) !== 0 };
  return [{ kind: 'Box', id: 'default', compatibility }, orders(random.below(5) !== 0), web, ...policies];
}

/** Makes requests that change nothing, each with a number in its query. */
async function randomRequests(
  api: BoxApi,
  { pool, places }: { readonly pool: pg.Pool; readonly places: Places },
  random: Random,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  while (asked.length < ofOnePlan) {
    const plain = randomRequest(random, places);
    if (!['GET', 'HEAD'].includes(plain.method)) continue;
    const request = { ...plain, query: [...plain.query, ['n', String(asked.length)] as const] };
    const subject = randomSubject(random, places);
    const { client } = subject;
    const own = client === undefined ? undefined : await storeToken(pool, { ...subject, box: 'default', client });
    const uri = `${request.path}${queryText(request.query)}`;
    const { params: _params, ...described }: Record<string, unknown> = { ...questionRequest(random, request), uri };
    const question = { subject: questionSubject(random, subject, own?.session), request: described };
    asked.push({ request, token: own?.token, question });
  }
  return asked;
}

/** Returns the effects that a plan tells, by the numbers of the requests. */
async function plan(
  api: BoxApi,
  wanted: readonly DeclaredResource[],
  asked: readonly Asked[],
): Promise<ReadonlyMap<number, unknown>> {
  const admin: readonly DeclaredResource[] = [
    { kind: 'Client', id: 'admin', grant_types: ['client_credentials'] },
    { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link: [{ resourceType: 'Client', id: 'admin' }] },
  ];
  const objects = [...admin, ...wanted].map(({ kind, id, ...fields }) => ({
    object: { kind, id, name: id, resource: { resourceType: kind, id, ...fields } },
  }));
  const lines = [...objects, ...asked.map(({ question }) => ({ request: question }))];
  const reply = await api.call('POST', '/$plan', {
    type: 'application/x-ndjson',
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  expect(reply.status, reply.text).to.equal(200);
  expect(stringIn(reply, 'box')).to.equal('default');
  const decisions: unknown = Reflect.get(Object(reply.body), 'decisions');
  const given = (isList(decisions) ? decisions : []).filter(isObject).filter(({ from }) => from === 'given');
  return new Map(given.map(({ path, effect }) => [Number(/[?&]n=(\d+)/.exec(String(path))?.[1]), effect]));
}

/** Makes the requests; true for each that the policies grant. */
async function verdicts(api: BoxApi, asked: readonly Asked[]): Promise<readonly boolean[]> {
  const granted: boolean[] = [];
  for (const { request, token } of asked) {
    const { status } = await realRequest(api, request, token);
    granted.push(status !== 401 && status !== 403);
  }
  return granted;
}

async function apply(
  api: BoxApi,
  present: readonly DeclaredResource[],
  wanted: readonly DeclaredResource[],
): Promise<void> {
  const ids = new Set(wanted.map(({ id }) => id));
  await api.declare('default', wanted);
  const gone = present.filter(({ id }) => !ids.has(id));
  if (gone.length > 0)
    await api.remove(
      'default',
      gone.map(({ kind, id }) => ({ kind, id })),
    );
}

function effectOf(before: boolean, after: boolean): 'lost' | 'gained' | undefined {
  if (before === after) return undefined;
  return before ? 'lost' : 'gained';
}
