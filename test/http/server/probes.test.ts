import { expect } from 'chai';
import { once } from 'node:events';
import { openSocket, readAnswer } from '../raw-http.ts';
import { eventually } from '../../support/eventually.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { asOwner } from '../../support/postgres.ts';

describe('probes', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  async function probe(path: string): Promise<readonly [status: number, text: string]> {
    const response = await fetch(api.managementUrl + path);
    return [response.status, await response.text()];
  }

  it('need no key, and are not on the public port', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await probe(path))[0], path).to.equal(200);
      expect((await fetch(api.url + path)).status, path).to.equal(404);
    }
  });

  it('are never kept by a cache', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/nothing']) {
      const { headers } = await fetch(api.managementUrl + path);
      expect([
        headers.get('cache-control'),
        headers.get('x-content-type-options'),
        headers.get('x-powered-by'),
      ]).to.deep.equal(['no-store', 'nosniff', null]);
    }
  });

  it('say that it is alive but not ready while Postgres is away, and ready again by itself', async () => {
    const name = new URL(api.database.ownerUrl).pathname.slice(1);
    await asOwner('postgres', async (client) => {
      // Else the API might be back before the name is another one.
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      await client.query(`ALTER DATABASE ${name} RENAME TO ${name}_away`);
    });
    await eventually('it is not ready', async () => (await probe('/readyz'))[0] === 503);
    expect((await probe('/readyz'))[1]).to.match(/^Postgres cannot answer now \(/);
    expect(await probe('/healthz')).to.deep.equal([200, 'ok']);
    expect((await probe('/metrics'))[1]).to.match(/^boxgate_ready 0$/m);
    await asOwner('postgres', async (client) => {
      await client.query(`ALTER DATABASE ${name}_away ALLOW_CONNECTIONS true`);
      await client.query(`ALTER DATABASE ${name}_away RENAME TO ${name}`);
    });
    await eventually('it is ready', async () => (await probe('/readyz'))[0] === 200);
    expect((await probe('/metrics'))[1]).to.match(/^boxgate_ready 1$/m);
  });

  it('name a login that Postgres refuses since the replica runs', async () => {
    // E-15: only the start told what to do; a running replica said that Postgres cannot answer now.
    const role = `${new URL(api.database.ownerUrl).pathname.slice(1)}_role`;
    await asOwner('postgres', (client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x' IN ROLE boxgate_api`));
    const url = new URL(api.database.apiUrl);
    [url.username, url.password] = [role, 'x'];
    const running = await startApi({ database: { ...api.database, apiUrl: url.href } });
    const text = async (): Promise<string> => (await fetch(`${running.managementUrl}/readyz`)).text();
    try {
      expect(await text()).to.equal('ok');
      await asOwner('postgres', async (client) => {
        await client.query(`ALTER ROLE ${role} PASSWORD 'another'`);
        await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
      });
      await eventually('it names the login', async () =>
        (await text()).includes('(28P01): it refuses the role or the password'),
      );
    } finally {
      await running.stop();
      await asOwner('postgres', (client) => client.query(`DROP ROLE ${role}`));
    }
  });

  it('say that it is not ready while it stops, for as long as it still answers', async () => {
    const stopping = await startApi({ database: api.database });
    await stopping.declare('shop', [{ kind: 'AccessPolicy', id: 'p', engine: 'allow' }]);
    const socket = openSocket(stopping.url);
    const body = 'grant_type=client_credentials';
    const headers = `Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${String(body.length)}\r\nExpect: 100-continue`;
    socket.write(`POST /boxes/shop/auth/token HTTP/1.1\r\n${headers}\r\n\r\n`);
    await once(socket, 'data'); // 100: it is under way
    const stopped = stopping.stop();
    const ready = await fetch(`${stopping.managementUrl}/readyz`);
    expect([ready.status, await ready.text()]).to.deep.equal([503, 'The service is stopping']);
    socket.write(body);
    expect(await readAnswer(socket)).to.include({ status: 401 });
    await stopped;
  });
});
