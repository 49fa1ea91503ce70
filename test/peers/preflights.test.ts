import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { portOf } from '../../program/environment.ts';
import { sendRequest } from '../http/raw-http.ts';
import type { RawReply } from '../http/raw-http.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { clientToken } from '../support/client-token.ts';
import { blocksOf, replaced } from '../support/page-block.ts';
import { startGateway } from './gateway.ts';
import type { GatewayName, RunningGateway } from './gateway.ts';

const secret = 'a secret of the client';
const origin = 'https://web.shop.example';
const heading = 'Preflights of browsers';

/** Returns the configuration of a gateway on docs/guides/gateways.md with the block that answers preflights. */
const configurations: Readonly<Partial<Record<GatewayName, (app: string, boxgate: string) => string>>> = {
  nginx(app, boxgate) {
    const [gateway = ''] = blocksOf('guides/gateways.md', 'nginx', 'nginx');
    const [preflight = ''] = blocksOf('guides/gateways.md', heading, 'nginx');
    return replaced(gateway, {
      'location / {\n': `location / {\n${preflight}`,
      'proxy_pass       http://orders.shop.svc:8080/;': `proxy_pass ${app}/;`,
      'http://boxgate.shop.svc/': `${boxgate}/`,
    });
  },
  caddy(app, boxgate) {
    const [gateway = ''] = blocksOf('guides/gateways.md', 'Caddy', '');
    const [preflight = ''] = blocksOf('guides/gateways.md', heading, '');
    return replaced(gateway, {
      'route {\n': `route {\n${preflight}`,
      'orders.example {': 'http://orders.example:PORT {',
      'forward_auth boxgate.shop.svc:80': `forward_auth ${boxgate}`,
      'reverse_proxy orders.shop.svc:8080': `reverse_proxy ${app}`,
    });
  },
};

for (const name of ['nginx', 'caddy'] as const) {
  describe(`${name} with the preflights of docs/guides/gateways.md`, () => {
    let api: TestApi;
    let app: Server | undefined;
    let gateway: RunningGateway | undefined;
    let token = '';

    before(async () => {
      api = await startApi();
      await api.declare('shop', [
        { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], secret },
        {
          kind: 'AccessPolicy',
          id: 'orders-read',
          apps: ['orders.example'],
          engine: 'matcho',
          link: [{ resourceType: 'Client', id: 'reports' }],
          matcho: { 'request-method': 'get' },
        },
      ]);
      app = createServer((_, response) => {
        response.writeHead(200, { 'Content-Length': 6 }).end('orders');
      });
      await once(app.listen(0, '127.0.0.1'), 'listening');
      const appUrl = `http://127.0.0.1:${String(portOf(app))}`;
      gateway = await startGateway(name, configurations[name]?.(appUrl, api.url) ?? '');
      token = await clientToken(`${api.url}/boxes/shop`, 'reports', secret);
    });
    after(async () => {
      await gateway?.stop();
      app?.close();
      await api.stop();
    });

    function send(method: string, headers: Readonly<Record<string, string>>): Promise<RawReply> {
      const url = gateway?.url ?? '';
      const all = { Host: `orders.example:${new URL(url).port}`, Origin: origin, ...headers };
      return sendRequest(url, { method, target: '/orders', headers: Object.entries(all) });
    }

    it('allows a script of the origin to send its token, without one', async () => {
      const asked = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };
      const { status, headers, text } = await send('OPTIONS', asked);
      expect([status, text]).to.deep.equal([204, '']);
      expect(headers.get('access-control-allow-origin')).to.equal(origin);
      expect(headers.get('access-control-allow-methods')).to.match(/\bGET\b/);
      expect(headers.get('access-control-allow-headers')).to.match(/\bAuthorization\b/);
    });

    it('asks Boxgate about the request that follows, and shows the script each answer', async () => {
      for (const [method, headers, status] of [
        ['GET', { Authorization: `Bearer ${token}` }, 200],
        ['POST', { Authorization: `Bearer ${token}` }, 403],
        ['GET', {}, 401],
      ] as const) {
        const reply = await send(method, headers);
        expect([reply.status, reply.text === 'orders']).to.deep.equal([status, status === 200]);
        expect(reply.headers.get('access-control-allow-origin'), String(status)).to.equal(origin);
      }
    });
  });
}
