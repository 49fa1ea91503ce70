import { expect } from 'chai';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import pg from 'pg';
import { openSocket } from '../raw-http.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { clientToken } from '../../support/client-token.ts';
import { eventually } from '../../support/eventually.ts';

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

  it('of a gateway are shared by the clients of verified tokens, and by all others together', async () => {
    // E-05: no token, and no client, keeps another one from being checked.
    await api.declareWithin('busy', { requests: 16 }, [
      { kind: 'Client', id: 'app', grant_types: ['client_credentials'], secret: 'a-secret' },
      { kind: 'Client', id: 'crowd', grant_types: ['client_credentials'], secret: 'a-secret' },
    ]);
    const own = await clientToken(`${api.url}/boxes/busy`, 'app', 'a-secret');
    const crowds = await clientToken(`${api.url}/boxes/busy`, 'crowd', 'a-secret');
    const told = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/7', 'X-Forwarded-Host': 'orders.example' };
    const check = async (token: string, signal?: AbortSignal): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}`, ...told };
      return (await fetch(`${api.url}/boxes/busy/auth/check?`, { headers, ...(signal && { signal }) })).status;
    };
    for (const token of [own, crowds]) expect(await check(token)).to.equal(403);
    // Of a token of a session that there never was.
    const unknown = own.replace(/.{8}$/, 'AAAAAAAA');
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      for (const token of [crowds, unknown]) {
        // Each of them waits for the row of its token.
        await owner.query('BEGIN; LOCK TABLE boxgate.session IN ACCESS EXCLUSIVE MODE');
        const statuses: number[] = [];
        const floods = Array.from({ length: 40 }, async () => statuses.push(await check(token)));
        await eventually('the share is used up', () => Promise.resolve(statuses.includes(429)));
        const checked = check(own);
        expect(await Promise.race([checked, Promise.all(floods.slice(0, 1))])).not.to.equal(429);
        await owner.query('COMMIT');
        await Promise.all(floods);
        // The share of a sharer, seven eighths of the quota: none of these was counted for its network too.
        expect(statuses.filter((status) => status !== 429)).to.have.length.of.at.least(14);
        expect(await checked).to.be.oneOf([403, 503]);
        await eventually('the box answers again', async () => (await check(own)) === 403);
      }
    } finally {
      await owner.end();
    }
  });

  it('of a connection whose answers nobody reads are one, and none once they are answered', async () => {
    // E-05: four connections that only send were enough to have a whole box answered with 429.
    await api.declareWithin('busy', { requests: 2_000 }, []);
    const token = await clientToken(`${api.url}/boxes/busy`, 'app', 'a-secret');
    for (const path of ['/auth/check', '/auth/check/orders']) {
      const request = `GET /boxes/busy${path} HTTP/1.1\r\nHost: orders.example\r\n\r\n`;
      const flood = Buffer.from(request.repeat(50_000));
      const sockets = Array.from({ length: 4 }, () => openSocket(api.url).pause());
      try {
        for (const socket of sockets) socket.write(flood);
        let left = 0;
        await eventually('nothing more of it is taken', () => {
          const before = left;
          left = sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0);
          return before > 0 && left === before;
        });
        for (let times = 0; times < 5; times += 1) {
          const headers = { Authorization: `Bearer ${token}` };
          for (const asked of ['/auth/check/orders', '/.well-known/jwks.json']) {
            const { status } = await fetch(`${api.url}/boxes/busy${asked}`, { headers });
            expect(status, `${asked} beside ${path}`).not.to.equal(429);
          }
        }
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    }
  });

  it('on one connection are answered in their order, at /auth/check too', async () => {
    // E-05: each of them waits for the answer before it.
    const check = 'GET /boxes/busy/auth/check/orders HTTP/1.1\r\nHost: orders.example\r\n\r\n';
    const keys = 'GET /boxes/busy/.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n';
    const socket = openSocket(api.url);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    const statuses = (): readonly string[] => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    try {
      const expected = Array.from({ length: 300 }, () => ['401', '200', '401']).flat();
      socket.write(`${check}${keys}${check}`.repeat(300));
      await eventually('every request is answered', () => Promise.resolve(statuses().length === expected.length));
      expect(statuses()).to.deep.equal(expected);
    } finally {
      socket.destroy();
    }
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
