import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import { obtainEnvoy } from './obtain-envoy.ts';
import { sendRequest } from '../../http/raw-http.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { clientToken } from '../../support/client-token.ts';
import { blocksOf } from '../../support/page-block.ts';
import { caddyPage, nginxPage } from '../gateway-pages.ts';
import { startGateway } from '../gateway.ts';
import type { GatewayName } from '../gateway.ts';
import { appServers, obtainAppServers, startAppServer } from './app-servers.ts';
import { envoyPage } from './envoy-page.ts';

const secret = 'a secret of the client';
const parts = ['User', 'Client', 'Scope', 'Session', 'Policy', 'Email', 'Email-Verified', 'Groups'];
const dashed = [
  ...parts.map((part) => `X-Auth-${part}`),
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
];
/** Headers that an app could take for those of the box, or for another method. */
const aliases = dashed.flatMap((name) => [
  name,
  name.toLowerCase(),
  name.replaceAll('-', '_'),
  name.replace('-', '_'),
  name.replace(/-(?=[^-]*$)/, '_'),
]);

const gateways: Readonly<Partial<Record<GatewayName, typeof nginxPage>>> = {
  nginx: nginxPage,
  caddy: caddyPage,
  envoy: envoyPage,
};

// E-08: what stands between the decision and the app.
describe('apps behind the gateways of the guides', () => {
  let api: TestApi;
  let token = '';

  before(async function () {
    this.timeout(0);
    await obtainAppServers();
    await obtainEnvoy(process.env, (line) => process.stderr.write(`${line}\n`));
    api = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1' } });
    const link = [{ resourceType: 'Client', id: 'reports' }];
    const matcho = { 'request-method': { $enum: ['get', 'post'] } };
    await api.declare('shop', [
      { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], secret },
      { kind: 'AccessPolicy', id: 'orders', apps: ['orders.example'], engine: 'matcho', link, matcho },
    ]);
    token = await clientToken(`${api.url}/boxes/shop`, 'reports', secret);
  });
  after(() => api.stop());

  for (const app of appServers) {
    for (const [name, { guide = 'gateways', heading, language, configure }] of Object.entries(gateways)) {
      it(`see who is calling, and nothing that the caller claims: ${app.title} behind ${name}`, async () => {
        const server = await startAppServer(app);
        const [block = ''] = blocksOf(`guides/${guide}.md`, heading, language);
        const gateway = await startGateway(gatewayName(name), configure(block, server.url, api.url));
        try {
          for (const extra of [
            ['Connection', 'X-Auth-User, X-Auth-Client'],
            ...aliases.map((alias) => [alias, 'FORGED']),
          ]) {
            const reply = await sendRequest(gateway.url, {
              method: 'POST',
              target: '/orders',
              headers: [
                ['Host', 'orders.example'],
                ['Authorization', `Bearer ${token}`],
                [extra[0] ?? '', extra[1] ?? ''],
              ],
              body: 'x=1',
            });
            const what = `${extra.join(': ')}: ${String(reply.status)} ${reply.text}`;
            expect(reply.status, what).to.be.oneOf([200, 400, 403]);
            expect(reply.text, what).not.to.include('FORGED').and.not.to.include(token);
            if (reply.status === 200) expectCaller(JSON.parse(reply.text), what);
          }
        } finally {
          await gateway.stop();
          await server.stop();
        }
      });
    }
  }
});

function expectCaller(shown: unknown, what: string): void {
  const { method, headers } = isObject(shown) ? shown : {};
  expect(method, what).to.equal('POST');
  expect(headers, what).to.include({ HTTP_X_AUTH_CLIENT: 'reports', HTTP_X_AUTH_USER: '-' });
}

function gatewayName(name: string): GatewayName {
  if (name === 'nginx' || name === 'caddy' || name === 'envoy') return name;
  throw new TypeError(name);
}
