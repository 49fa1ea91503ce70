import { expect } from 'chai';
import pg from 'pg';
import { nextMillisecond } from '../../support/eventually.ts';
import { seededRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { storeToken } from '../../support/stored-token.ts';
import { sentences, startBoxApi } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';
import { randomPolicy } from './random-policy.ts';
import { randomRequest } from './random-request.ts';
import type { Places } from './random-request.ts';
import { questionSubject, randomSubject } from './random-subject.ts';
import { questionRequest, realRequest } from './real-request.ts';

/** A sample; `make questions` asks many. */
const count = Number(process.env['BOXGATE_QUESTIONS'] ?? 100);
/** Requests that are made under the same policies. */
const ofOneRound = 20;
const issuer = 'http://boxgate.test/boxes/default';

const foreignAudience =
  'subject.audience must be the issuer in this box, which takes no token for others (compatibility.foreign_audience)';

/** A verdict: whether a request is granted, and by which policy. */
interface Verdict {
  readonly granted: boolean;
  readonly policy?: unknown;
}

describe('POST /AccessPolicy/$explain, asked about random requests', () => {
  let api: BoxApi;
  let pool: pg.Pool;
  let places: Places;

  before(async () => {
    api = await startBoxApi();
    pool = new pg.Pool({ connectionString: api.database.ownerUrl, max: 1 });
    const code = { redirect_uri: 'https://app.example/back', audience: [issuer, 'https://files.example'] };
    const [scope, ofPeople] = [
      ['read', 'write'],
      ['openid', 'boxgate', 'boxgate.all'],
    ];
    const boss = { email: 'boss@mail.example', password: 'correct horse' };
    const id = String(memberOf((await api.call('POST', '/users', { body: boss })).body, 'id'));
    await api.declare('default', [
      // An administrator whom no request names: no change takes the last one.
      { kind: 'AccessPolicy', id: 'boss', engine: 'allow', link: [{ resourceType: 'User', id }] },
      { kind: 'Client', id: 'orders', grant_types: ['client_credentials'], scope, secret: 's3cr3t', details: { a: 1 } },
      {
        kind: 'Client',
        id: 'web',
        grant_types: ['authorization_code'],
        scope: ofPeople,
        auth: { authorization_code: code },
      },
    ]);
    places = await freshPlaces(api, pool);
  });
  after(async () => {
    await pool.end();
    await api.stop();
  });

  const random = seededRandom();

  it(`R-40: gives the verdict and the policy of the real request, ${String(count)} times, seed ${String(random.seed)}`, async () => {
    const seen = { granted: 0, denied: 0, unknown: 0, refused: 0 };
    for (let asked = 0; asked < count; asked += 1) {
      if (asked % ofOneRound === 0) await declarePolicies(api, random, places);
      const outcome = await compare(api, pool, random, places);
      seen[outcome.kind] += 1;
      if (outcome.hasWritten) places = await freshPlaces(api, pool, places);
    }
    // Of few there may be none of a kind that is rare.
    if (count >= 1000) for (const [kind, times] of Object.entries(seen)) expect(times, kind).to.be.greaterThan(0);
  });
});

/** Replaces the policies that the requests are made under; some boxes take no tokens for others. */
async function declarePolicies(api: BoxApi, random: Random, places: Places): Promise<void> {
  const policies = ['p1', 'p2', 'p3', 'p4'].map((id) => {
    return { ...randomPolicy(random, places), kind: 'AccessPolicy', id } as const;
  });
  const compatibility = { foreign_audience: random.below(4) !== 0 };
  await api.declare('default', [{ kind: 'Box', id: 'default', compatibility }, ...policies]);
}

interface Outcome {
  readonly kind: 'granted' | 'denied' | 'unknown' | 'refused';
  readonly hasWritten: boolean;
}

/** Asks about a request, makes it, and compares. */
async function compare(api: BoxApi, pool: pg.Pool, random: Random, places: Places): Promise<Outcome> {
  const made = randomSubject(random, places);
  const { client } = made;
  const own = client === undefined ? undefined : await storeToken(pool, { ...made, box: 'default', client });
  const sessions: Places['sessions'] = own === undefined ? places.sessions : [own.session, ...places.sessions];
  const request = randomRequest(random, { ...places, sessions });
  const question = { subject: questionSubject(random, made, own?.session), request: questionRequest(random, request) };
  const reply = await api.call('POST', '/AccessPolicy/$explain', { body: question });
  const shown = JSON.stringify({ made, request, question, told: reply.body });
  expect(reply.status, shown).to.be.oneOf([200, 422]);
  const told: Verdict = { granted: memberOf(reply.body, 'granted') === true, policy: memberOf(reply.body, 'policy') };
  const { status, id } = await realRequest(api, request, own?.token);
  expect(status, shown).to.be.lessThan(500);
  if (reply.status === 422) {
    expect([status, sentences(reply).join()], shown).to.deep.equal([401, foreignAudience]);
    return { kind: 'refused', hasWritten: false };
  }
  const refused = own === undefined ? 401 : 403;
  expect(status, shown).not.to.equal(own === undefined ? 403 : 401);
  const verdict: Verdict = { granted: status !== refused, policy: policyInLog(api, id) };
  expect(told, `${String(status)} ${shown} ${await policiesOf(api)}`).to.deep.equal(verdict);
  const kind = verdict.granted ? 'granted' : own === undefined ? 'unknown' : 'denied';
  return { kind, hasWritten: status < 300 && !['GET', 'HEAD'].includes(request.method) };
}

const memberOf = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

/** Returns the policy that the log names for a request; undefined when none granted it. */
function policyInLog(api: BoxApi, id: string): unknown {
  const line = api.logLines.findLast((one) => one.includes(`"request_id":"${id}"`)) ?? '{}';
  return memberOf(JSON.parse(line), 'policy');
}

async function policiesOf(api: BoxApi): Promise<string> {
  const { text } = await api.call('GET', '/AccessPolicy?_result=array');
  return text;
}

/** Brings what requests change back to where it was: makes what is missing, and removes what was made. */
async function freshPlaces(api: BoxApi, pool: pg.Pool, before?: Places): Promise<Places> {
  const [staff, others] = before?.groups ?? [];
  const [ann, bob] = before?.users ?? [];
  const groups = [
    await kept(api, '/Group', staff, { name: 'staff' }),
    await kept(api, '/Group', others, { name: 'others' }),
  ] as const;
  const person = { status: null, data: '{"a": 1}', password: 'correct horse' };
  const users = [
    await kept(api, '/users', ann, { ...person, email: 'ann@mail.example', 'group-ids': [groups[0]] }),
    await kept(api, '/users', bob, { ...person, email: 'bob@mail.example', 'group-ids': [] }),
  ] as const;
  for (const id of ['fresh', 'nobody']) await api.call('DELETE', `/Client/${id}`);
  for (const id of ['fresh', 'nobody', 'orders', 'web']) await api.call('DELETE', `/AccessPolicy/${id}`);
  await api.call('PUT', '/Client/target', { body: { grant_types: [], name: 'target' } });
  await api.call('PUT', '/AccessPolicy/target', { body: { engine: 'allow' } });
  await nextMillisecond();
  const victim = { box: 'default', client: 'web', user: users[1], scope: null, audience: null };
  return { users, groups, issuer, sessions: [(await storeToken(pool, victim)).session] };
}

/** Writes a user or group as it was; creates it when it is not there. Returns its ID. */
async function kept(api: BoxApi, path: string, id: number | undefined, fields: object): Promise<number> {
  if (id !== undefined) {
    const { password: _kept, ...others } = { password: undefined, ...fields };
    const reply = await api.call('PUT', `${path}/${String(id)}`, { body: others });
    if (reply.status === 200) return id;
    expect(reply.status, reply.text).to.be.oneOf(path === '/Group' ? [404, 409] : [404]);
    // A group with members cannot be renamed back to a name that a policy links by now.
    if (reply.status === 409) await api.call('DELETE', `${path}/${String(id)}`);
  }
  const { status, body, text } = await api.call('POST', path, { body: fields });
  expect(status, text).to.equal(201);
  return Number(memberOf(body, 'id'));
}
