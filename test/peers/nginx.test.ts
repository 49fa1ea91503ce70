import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { isObject } from '../../crds/json-value.ts';
import { startNginx } from './nginx.ts';
import type { Nginx } from './nginx.ts';

const secret = 'a secret of the client';
const link = [{ resourceType: 'Client', id: 'reports' }];

interface Reply {
  readonly status: number;
  readonly challenge: string | undefined;
  /** The request that reached the app; undefined if none did. */
  readonly seen: unknown;
}

describe('nginx with the configuration of docs/gateways.md', () => {
  let api: TestApi;
  let app: Server;
  let nginx: Nginx;
  let token = '';

  before(async () => {
    api = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1' } });
    await api.declare('shop', [
      { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], secret },
      policy('orders-read', { matcho: { 'request-method': 'get', uri: '#^/orders(/|$)' }, engine: 'matcho', link }),
      policy('office', { engine: 'cel', link, expression: 'uri == "/office" && remote_addr == "127.0.0.2"' }),
    ]);
    app = createServer(({ method, url, headers }, response) => {
      response.end(JSON.stringify({ method, url, client: headers['x-auth-client'], email: headers['x-auth-email'] }));
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    nginx = await startNginx(locations(addressOf(app), api.url));
    const body = { grant_type: 'client_credentials', client_id: 'reports', client_secret: secret };
    const reply = await fetch(`${api.url}/boxes/shop/auth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const got: unknown = await reply.json();
    token = isObject(got) ? String(got['access_token']) : '';
  });
  after(async () => {
    await nginx.stop();
    app.close();
    await api.stop();
  });

  function policy(id: string, fields: object) {
    return { kind: 'AccessPolicy', id, apps: ['orders'], ...fields } as const;
  }

  /** Returns the page's configuration with the addresses of this test. */
  function locations(appUrl: string, boxgateUrl: string): string {
    const [, block = ''] = /```nginx\n(.*?)```/s.exec(readFileSync('docs/gateways.md', 'utf8')) ?? [];
    expect(block)
      .to.include('proxy_pass       http://orders.shop.svc:8080;')
      .and.to.include('http://boxgate.shop.svc/');
    return block.replace('http://orders.shop.svc:8080', appUrl).replace('http://boxgate.shop.svc', boxgateUrl);
  }

  function send(
    method: string,
    path: string,
    { from = '127.0.0.1', ...headers }: Readonly<Record<string, string>> = { Authorization: `Bearer ${token}` },
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sent = ask(nginx.url, { method, path, headers, localAddress: from, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () => {
          const { statusCode: status = 0, headers: got } = response;
          const seen: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
          resolve({ status, challenge: got['www-authenticate'], seen });
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  it('lets through what a policy grants, with the identity of the caller and not the one it claims', async () => {
    const headers = { Authorization: `Bearer ${token}`, 'X-Auth-Client': 'admin', 'X-Auth-Email': 'root@shop.example' };
    const reply = await send('GET', '/orders/7?x=1', headers);
    expect(reply).to.deep.equal({
      status: 200,
      challenge: undefined,
      seen: { method: 'GET', url: '/orders/7?x=1', client: 'reports' },
    });
  });

  it('asks for a token, and refuses one that is not valid', async () => {
    const without = await send('GET', '/orders/7', {});
    expect(without).to.deep.equal({ status: 401, challenge: 'Bearer realm="shop"', seen: undefined });
    const wrong = await send('GET', '/orders/7', { Authorization: 'Bearer bgt_nonsense' });
    expect([wrong.status, wrong.seen]).to.deep.equal([401, undefined]);
  });

  it('refuses by method, by path, and by address', async () => {
    const own = { Authorization: `Bearer ${token}` };
    for (const [method, path] of [
      ['POST', '/orders/7'],
      ['GET', '/admin'],
      ['GET', '/orders/../admin'],
      ['GET', '/orders/%2e%2e/admin'],
      ['GET', '/orders%2f..%2fadmin'],
      ['GET', '/office'],
    ] as const) {
      expect(await send(method, path, own), `${method} ${path}`).to.include({ status: 403, seen: undefined });
    }
    expect((await send('GET', '/office', { ...own, from: '127.0.0.2' })).status).to.equal(200);
    const forged = { ...own, 'X-Forwarded-For': '127.0.0.2' };
    expect((await send('GET', '/office', forged)).status).to.equal(403);
  });

  it('cannot be told another request by its caller', async () => {
    const own = { Authorization: `Bearer ${token}` };
    const forgeries: readonly Readonly<Record<string, string>>[] = [
      { 'X-Original-Method': 'GET', 'X-Original-URI': '/orders' },
      { 'X-Original-URL': 'http://orders/orders' },
      { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/orders', 'X-Forwarded-Host': 'orders' },
    ];
    for (const forged of forgeries) {
      expect((await send('DELETE', '/admin', { ...own, ...forged })).status, JSON.stringify(forged)).to.equal(403);
    }
  });

  it('refuses the next request after the policy is removed, and everything while Boxgate is down', async () => {
    expect((await send('GET', '/orders')).status).to.equal(200);
    await api.remove('shop', [{ kind: 'AccessPolicy', id: 'orders-read' }]);
    expect((await send('GET', '/orders')).status).to.equal(403);
    await api.declare('shop', [policy('all', { engine: 'allow', link })]);
    expect((await send('GET', '/orders')).status).to.equal(200);
    const closed = await startNginx(locations(addressOf(app), 'http://127.0.0.1:1'));
    try {
      const reply = await fetch(`${closed.url}/orders`, { headers: { Authorization: `Bearer ${token}` } });
      expect(reply.status).to.equal(500);
    } finally {
      await closed.stop();
    }
  });
});

function addressOf(server: Server): string {
  const address = server.address();
  if (!isAddress(address)) throw new TypeError('not a TCP server');
  return `http://127.0.0.1:${String(address.port)}`;
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return isObject(address);
}
