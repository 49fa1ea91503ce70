import { expect } from 'chai';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import pg from 'pg';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { member } from '../../support/member.ts';

describe('requests in flight', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
    for (const box of ['busy', 'other']) {
      await api.declare(box, [{ kind: 'Client', id: 'app', grant_types: ['client_credentials'], secret: 'a-secret' }]);
    }
  });
  after(() => api.stop());

  const addressOf = (box: string): string => `${api.url}/boxes/${box}/auth/token`;
  const token = (box: string): Promise<Response> =>
    fetch(addressOf(box), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'client_credentials', client_id: 'app', client_secret: 'a-secret' }),
    });

  /** A request whose body never ends: it stays in flight. */
  function begin(box: string): ClientRequest {
    const headers = { 'content-type': 'application/json', 'content-length': '100' };
    const begun = request(addressOf(box), { method: 'POST', headers });
    begun.on('error', () => undefined);
    begun.write('{');
    return begun;
  }

  it('R-53 are limited by the quota of their box: 429 with Retry-After, and other boxes go on', async () => {
    await api.declareWithin('busy', { requests: 2 }, []);
    expect((await token('busy')).status).to.equal(200);
    const begun = [begin('busy'), begin('busy')];
    await eventually('the box is at its quota', async () => (await token('busy')).status === 429);
    const refused = await token('busy');
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '1']);
    expect(await refused.text())
      .to.contain('`requests`')
      .and.contain('boxgate.dev/quota');
    expect((await token('other')).status).to.equal(200);
    begun[0]?.destroy();
    await eventually('there is room again', async () => (await token('busy')).status === 200);
    begun[1]?.destroy();
  });

  it('R-53 of callers who hang up while their box is being read are not counted', async () => {
    const client = { kind: 'Client', id: 'app', grant_types: ['client_credentials'], secret: 'a-secret' } as const;
    await api.declareWithin('fresh', { requests: 2 }, [client]);
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      await owner.query('BEGIN; LOCK TABLE boxgate.box IN ACCESS EXCLUSIVE MODE');
      const begun = Array.from({ length: 5 }, () => begin('fresh'));
      // A request that is destroyed before it was sent would never reach the API.
      await Promise.all(begun.map((one) => new Promise((resolve) => one.write(' ', resolve))));
      await eventually('a request waits for its box', async () => {
        const { rowCount } = await owner.query('SELECT FROM pg_locks WHERE NOT granted AND relation IS NOT NULL');
        return rowCount !== 0;
      });
      const closed = begun.map((one) => new Promise((resolve) => one.once('close', resolve)));
      for (const one of begun) one.destroy();
      await Promise.all(closed);
      // The API has seen the ends of those connections once it has answered later requests.
      for (let times = 0; times < 3; times += 1) await (await fetch(`${api.url}/boxes/busy/nothing-here`)).text();
    } finally {
      await owner.end();
    }
    await eventually('the box answers', async () => (await token('fresh')).status === 200);
  });

  it('R-53 of a gateway are not those of one caller: it may use all of the quota', async () => {
    await api.declareWithin('busy', { requests: 16 }, []);
    const issued: unknown = await (await token('busy')).json();
    const forwarded = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/7', 'X-Forwarded-Host': 'orders.example' };
    const headers = { Authorization: `Bearer ${String(member(issued, 'access_token'))}`, ...forwarded };
    const check = () => fetch(`${api.url}/boxes/busy/auth/check?`, { headers });
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      // Each of them waits for the row of its token.
      await owner.query('BEGIN; LOCK TABLE boxgate.session IN ACCESS EXCLUSIVE MODE');
      const statuses = (await Promise.all(Array.from({ length: 16 }, check))).map(({ status }) => status);
      expect(statuses).not.to.include(429);
    } finally {
      await owner.end();
    }
    expect((await check()).status).to.equal(403);
  });

  it('R-53 end also where they fail, so that the count goes back to none', async () => {
    await api.declareWithin('busy', { requests: 3 }, []);
    for (let times = 0; times < 10; times += 1) {
      const answer = await fetch(`${api.url}/boxes/busy/nothing-here`);
      expect(answer.status).to.equal(404);
      await answer.text();
    }
    expect((await token('busy')).status).to.equal(200);
  });
});
