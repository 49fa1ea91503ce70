import { expect } from 'chai';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { startApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestApi } from '../../support/api.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

const perSecret = 8;
const perClient = 4;
const environment = {
  BOXGATE_TRUSTED_PROXIES: '127.0.0.1',
  BOXGATE_FAILURES_PER_SECRET: String(perSecret),
  BOXGATE_FAILURES_PER_CLIENT: String(perClient),
};

describe('guesses at the secret of a client, from everywhere', () => {
  let database: TestDatabase;
  let replicas: readonly [TestApi, TestApi];
  const generated = generateClientSecret();

  before(async () => {
    database = await freshDatabase();
    replicas = [await startApi({ database, environment }), await startApi({ database, environment })];
    const grant_types = ['client_credentials'];
    await replicas[0].declare('default', [
      { kind: 'Client', id: 'chosen', grant_types, secret: 'a chosen secret' },
      { kind: 'Client', id: 'cached', grant_types, secret: 'a chosen secret' },
      { kind: 'Client', id: 'other', grant_types, secret: 'a chosen secret' },
      { kind: 'Client', id: 'generated', grant_types, secret: generated },
      { kind: 'Client', id: 'planned', grant_types, secret: 'another chosen secret' },
      { kind: 'Client', id: 'planner', grant_types, secret: generated },
      { kind: 'AccessPolicy', id: 'planner', engine: 'allow', link: [{ resourceType: 'Client', id: 'planner' }] },
    ]);
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });

  async function token(client: string, secret: string, from: string, api = replicas[0]): Promise<number> {
    const response = await fetch(`${api.url}/boxes/default/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client}:${secret}`)}`, 'X-Forwarded-For': from },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    await response.arrayBuffer();
    if (response.status === 429) expect(Number(response.headers.get('retry-after'))).to.be.within(1, 3_600);
    return response.status;
  }

  /** Wrong secrets, each from an address of its own, on both replicas in turn. */
  async function strangersGuess(client: string, times: number, network: string): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (let nth = 0; nth < times; nth += 1) {
      const api = replicas[nth % 2 === 0 ? 0 : 1];
      statuses.push(await token(client, `wrong ${String(nth)}`, `${network}.${String(nth)}`, api));
    }
    return statuses;
  }

  it('R-14 limits them for all addresses and replicas together, and for that client only', async () => {
    expect(await strangersGuess('chosen', perSecret + 4, '10.2.0')).to.deep.equal([
      ...Array<number>(perSecret).fill(401),
      ...Array<number>(4).fill(429),
    ]);
    for (const api of replicas) {
      expect(await token('chosen', 'a chosen secret', '10.3.0.1', api), 'not verified yet').to.equal(429);
      expect(await token('other', 'a chosen secret', '10.3.0.1', api)).to.equal(200);
    }
  });

  it('R-14 never refuses a secret that was verified before, from any quiet address', async () => {
    for (const api of replicas) expect(await token('cached', 'a chosen secret', '10.3.0.2', api)).to.equal(200);
    await strangersGuess('cached', perSecret + 4, '10.2.1');
    for (const api of replicas) {
      expect(await token('cached', 'a chosen secret', '10.3.0.2', api)).to.equal(200);
      expect(await token('cached', 'a chosen secret', '10.3.0.3', api)).to.equal(200);
    }
  });

  it('R-14 counts the failures of an address that authenticated the client in the last day on their own', async () => {
    const guesses: number[] = [];
    for (let nth = 0; nth < perClient + 1; nth += 1)
      guesses.push(await token('cached', `typo ${String(nth)}`, '10.3.0.2'));
    expect(guesses).to.deep.equal([...Array<number>(perClient).fill(401), 429]);
    expect(await token('cached', 'a chosen secret', '10.3.0.2'), 'a stranger shares the address').to.equal(200);
  });

  it('R-14 does not compare the texts of an address that only fails with the verified secret', async () => {
    for (let nth = 0; nth < perClient; nth += 1) await token('other', `wrong ${String(nth)}`, '10.2.2.1');
    expect(await token('other', 'a chosen secret', '10.2.2.1')).to.equal(429);
  });

  it('R-14 never refuses a generated secret, not even at the address of a stranger who guesses', async () => {
    const guesses: number[] = [];
    for (let nth = 0; nth < perSecret + 4; nth += 1)
      guesses.push(await token('generated', `wrong ${String(nth)}`, '10.2.3.1'));
    expect(new Set(guesses)).to.deep.equal(new Set([401, 429]));
    for (const api of replicas) expect(await token('generated', generated, '10.2.3.1', api)).to.equal(200);
  });

  it('R-14 counts the guesses of plans with them, and records each like one at the token endpoint', async () => {
    const bearer = await newToken('planner', generated);
    const guesses: string[] = [];
    for (let nth = 0; nth < perSecret + 2; nth += 1) {
      const api = replicas[nth % 2 === 0 ? 0 : 1];
      guesses.push(await plannedSecret(`wrong ${String(nth)}`, `10.4.0.${String(nth)}`, bearer, api));
    }
    expect(guesses).to.deep.equal([
      ...Array<string>(perSecret).fill('another'),
      ...Array<string>(2).fill('not compared'),
    ]);
    for (const api of replicas) expect(await token('planned', 'another chosen secret', '10.4.1.1', api)).to.equal(429);
    await eventually('the guesses are recorded', async () => {
      const url = `${replicas[0].url}/boxes/default/AuditEvent?event=client.authentication_failed&target=Client/planned`;
      const trail = await fetch(url, { headers: { Authorization: `Bearer ${bearer}` } });
      return (await trail.text()).includes('10.4.0.0');
    });
  });

  async function newToken(client: string, secret: string): Promise<string> {
    const response = await fetch(`${replicas[0].url}/boxes/default/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return String(Reflect.get(Object(await response.json()), 'access_token'));
  }

  /** Plans another secret for the client `planned`, and returns what the plan tells of it. */
  async function plannedSecret(secret: string, from: string, bearer: string, api: TestApi): Promise<string> {
    const resource = { resourceType: 'Client', id: 'planned', grant_types: ['client_credentials'], secret };
    const response = await fetch(`${api.url}/boxes/default/$plan`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${bearer}`,
        'Content-Type': 'application/x-ndjson',
        'X-Forwarded-For': from,
      },
      body: JSON.stringify({ object: { kind: 'Client', id: 'planned', name: 'planned', resource } }),
    });
    const text = await response.text();
    if (text.includes('"secrets_not_compared":["planned"]')) return 'not compared';
    return text.includes('"secrets":["planned"]') ? 'another' : text;
  }
});
