import { expect } from 'chai';
import { sendRequest } from '../raw-http.ts';
import { startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

const secret = 'a secret of the client';
const host = 'orders.example';

/** A request to an app, as its caller sends it. */
interface Call {
  readonly method: string;
  readonly uri: string;
  readonly token?: string;
  readonly address?: string;
}

/** A request to `/auth/check`, as a gateway sends it. */
interface Check {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

const authorization = ({ token }: Call): Readonly<Record<string, string>> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` };

/**
 * Request of Envoy's filter ext_authz as Envoy 1.40 sends it: method and host of the original, its path after the
 * prefix, no body, and no other header of the original than Authorization and those that its configuration lists.
 */
const envoy = (call: Call, more: Readonly<Record<string, string>> = {}): Check => ({
  method: call.method,
  target: `/boxes/default/auth/check${call.uri}`,
  headers: {
    Host: host,
    'Content-Length': '0',
    ...authorization(call),
    'X-Envoy-Internal': 'true',
    'X-Envoy-Expected-Rq-Timeout-Ms': '10000',
    ...more,
  },
});

/** Requests that these gateways are documented to send, with the configurations of the guides. */
const gateways: Readonly<Record<string, (call: Call) => Check>> = {
  // https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#external-authentication
  'ingress-nginx': (call) => ({
    method: 'GET',
    target: '/auth/check?app=orders.example',
    headers: {
      Host: 'boxgate.default.svc.cluster.local',
      ...authorization(call),
      'X-Request-ID': '7f1c9b0e5d2a4f63a1b2c3d4e5f60718',
      'X-Original-URL': `https://${host}${call.uri}`,
      'X-Original-Method': call.method,
      'X-Sent-From': 'nginx-ingress-controller',
      'X-Real-IP': call.address ?? '198.51.100.1',
      'X-Forwarded-For': call.address ?? '198.51.100.1',
      'X-Auth-Request-Redirect': call.uri,
    },
  }),
  // https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/forwardauth/
  Traefik: (call) => ({
    method: 'GET',
    target: '/auth/check',
    headers: {
      Host: 'boxgate.default.svc',
      ...authorization(call),
      'X-Forwarded-Method': call.method,
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': `${host}:443`,
      'X-Forwarded-Uri': call.uri,
      'X-Forwarded-For': call.address ?? '198.51.100.1',
    },
  }),
  // https://gateway.envoyproxy.io/docs/tasks/security/ext-auth/
  'Envoy Gateway': (call) => envoy(call, { 'X-Forwarded-For': call.address ?? '198.51.100.1' }),
  // https://istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/ (EnvoyExternalAuthorizationHttpProvider)
  Istio: (call) =>
    envoy(call, { 'X-B3-Sampled': '0', 'X-Envoy-Attempt-Count': '1', 'X-Envoy-Decorator-Operation': `${host}:80/*` }),
};

describe('the documented requests of gateways', () => {
  let api: BoxApi;
  let reader = '';
  let stranger = '';

  before(async () => {
    api = await startBoxApi({ BOXGATE_TRUSTED_PROXIES: '127.0.0.1' });
    await api.declare('default', [
      { kind: 'Client', id: 'reader', grant_types: ['client_credentials'], secret },
      { kind: 'Client', id: 'stranger', grant_types: ['client_credentials'], secret },
      {
        kind: 'AccessPolicy',
        id: 'by-address',
        engine: 'cel',
        subjects: 'authenticated',
        apps: [host],
        expression: 'uri == "/office" && remote_addr.startsWith("192.0.2.")',
      },
    ]);
    reader = stringIn(await api.requestToken('reader', secret), 'access_token');
    stranger = stringIn(await api.requestToken('stranger', secret), 'access_token');
  });
  after(() => api.stop());
  beforeEach(() =>
    api.declare('default', [
      {
        kind: 'AccessPolicy',
        id: 'read-orders',
        engine: 'matcho',
        link: [{ resourceType: 'Client', id: 'reader' }],
        apps: [host],
        matcho: { 'request-method': 'get', uri: '#^/orders(/|$)', params: { full: '1' } },
      },
    ]),
  );

  for (const [name, checkOf] of Object.entries(gateways)) {
    const statusOf = async (call: Call): Promise<number> => (await reply(checkOf(call))).status;
    const reply = ({ method, target, headers }: Check) =>
      sendRequest(api.url, { method, target, headers: Object.entries(headers) });

    it(`of ${name}: 200 with the identity, 401 without a token, 403 by method, path, query and caller`, async () => {
      const call = { method: 'GET', uri: '/orders/7?full=1', token: reader };
      const granted = await reply(checkOf(call));
      expect([
        granted.status,
        granted.headers.get('x-auth-client'),
        granted.headers.get('x-auth-policy'),
      ]).to.deep.equal([...[200, 'reader', 'read-orders']]);
      expect(await statusOf({ method: 'GET', uri: call.uri })).to.equal(401);
      for (const [what, other] of Object.entries<Partial<Call>>({
        'another method': { method: 'POST' },
        'another path': { uri: '/ordersx?full=1' },
        'a path that leads elsewhere': { uri: '/orders/%2e%2e/admin?full=1' },
        'another query': { uri: '/orders/7?full=0' },
        'another caller': { token: stranger },
      })) {
        expect(await statusOf({ ...call, ...other }), what).to.equal(403);
      }
    });

    it(`of ${name}: 403 from the next request on, once the policy is removed`, async () => {
      const call = { method: 'GET', uri: '/orders?full=1', token: reader };
      expect(await statusOf(call)).to.equal(200);
      await api.remove('default', [{ kind: 'AccessPolicy', id: 'read-orders' }]);
      expect(await statusOf(call)).to.equal(403);
    });
  }

  it('tell the address of the caller where they send it: with Istio, policies see none', async () => {
    const call = { method: 'GET', uri: '/office', token: reader, address: '192.0.2.7' };
    const statuses = await Promise.all(
      Object.entries(gateways).map(async ([name, checkOf]) => {
        const { method, target, headers } = checkOf(call);
        const { status } = await sendRequest(api.url, { method, target, headers: Object.entries(headers) });
        return [name, status];
      }),
    );
    expect(statuses).to.deep.equal([
      ['ingress-nginx', 200],
      ['Traefik', 200],
      // E-08: it lists X-Forwarded-For in headersToExtAuth.
      ['Envoy Gateway', 200],
      ['Istio', 403],
    ]);
  });
});
