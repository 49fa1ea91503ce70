import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import type { DeclaredResource } from '../../support/api.ts';
import { addUser, newBrowser } from '../pages/browser.ts';
import type { Browser } from '../pages/browser.ts';
import { sendRequest } from '../raw-http.ts';
import type { RawReply } from '../raw-http.ts';
import { sentences, startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

const secret = 'a secret of the client';
const password = 'a long enough passphrase';
const toOrders = [{ resourceType: 'Client', id: 'orders-reader' }];

/** An app that people sign in to; with audiences, its tokens are for those, by default for the first. */
function webApp(id: string, audience?: readonly string[]): DeclaredResource {
  const implicit = { redirect_uri: 'https://app.example/back', ...(audience && { audience }) };
  const scope = ['openid', 'email', 'groups', 'boxgate'];
  return { kind: 'Client', id, grant_types: ['implicit'], first_party: true, auth: { implicit }, scope };
}

const resources: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'orders-reader', grant_types: ['client_credentials'], secret },
  { kind: 'Client', id: 'stranger', grant_types: ['client_credentials'], secret },
  webApp('web'),
  webApp('web-apps', ['team.example', 'https://team.example', 'https://other.example']),
  {
    kind: 'AccessPolicy',
    id: 'read-orders',
    engine: 'matcho',
    link: toOrders,
    apps: ['orders'],
    matcho: { 'request-method': 'get', uri: '#^/orders(/|$)' },
  },
  { kind: 'AccessPolicy', id: 'own-endpoints', engine: 'allow', link: [{ resourceType: 'Client', id: 'stranger' }] },
  {
    kind: 'AccessPolicy',
    id: 'office',
    engine: 'cel',
    subjects: 'authenticated',
    apps: ['office.example'],
    expression: 'remote_addr.startsWith("192.0.2.")',
  },
  {
    kind: 'AccessPolicy',
    id: 'by-time',
    engine: 'cel',
    subjects: 'authenticated',
    apps: ['clock.example'],
    expression: 'uri == "/fresh" ? time - token.iat < 600 && time >= token.iat : time < token.iat',
  },
  {
    kind: 'AccessPolicy',
    id: 'not-from-there',
    engine: 'cel',
    subjects: 'authenticated',
    apps: ['blocks.example'],
    expression: 'remote_addr != "192.0.2.1"',
  },
  {
    kind: 'AccessPolicy',
    id: 'team',
    engine: 'allow',
    link: [{ resourceType: 'Group', id: 'Küche, Bad' }],
    apps: ['team.example'],
  },
  {
    kind: 'AccessPolicy',
    id: 'own-tenant',
    engine: 'matcho',
    link: toOrders,
    apps: ['tenants.example'],
    matcho: { params: { tenant: 'mine' } },
  },
  { kind: 'AccessPolicy', id: 'anybody', engine: 'matcho', subjects: 'anyone', apps: ['*'], matcho: { uri: '/open' } },
  {
    kind: 'AccessPolicy',
    id: 'by-body',
    engine: 'matcho',
    subjects: 'authenticated',
    apps: ['orders'],
    matcho: { body: { name: 'x' } },
  },
];

type Headers = Readonly<Record<string, string | undefined>>;

const nginx = (method: string, uri: string): Headers => ({ 'X-Original-Method': method, 'X-Original-URI': uri });

const caddy = (method: string, uri: string, host: string): Headers => ({
  'X-Forwarded-Method': method,
  'X-Forwarded-Uri': uri,
  'X-Forwarded-Host': host,
});

describe('/auth/check', () => {
  let api: BoxApi;
  let reader = '';
  let stranger = '';
  let browser: Browser;

  before(async () => {
    api = await startBoxApi({ BOXGATE_TRUSTED_PROXIES: '127.0.0.1' });
    await api.declare('default', resources);
    reader = stringIn(await api.requestToken('orders-reader', secret), 'access_token');
    stranger = stringIn(await api.requestToken('stranger', secret), 'access_token');
  });
  after(() => api.stop());

  /** Asks as a gateway does; a header without a value is not sent. */
  function check(path: string, token: string | undefined, headers: Headers, method = 'GET'): Promise<RawReply> {
    const sent = Object.entries({ Authorization: token && `Bearer ${token}`, ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return sendRequest(api.url, { method, target: `/boxes/default/auth/check${path}`, headers: sent });
  }

  async function userToken(wish: Readonly<Record<string, string>>): Promise<string> {
    const client = 'audience' in wish ? 'web-apps' : 'web';
    const asked = new URLSearchParams({ response_type: 'token', client_id: client, state: 's', ...wish });
    const { location } = await browser.get(`/auth/authorize?${asked.toString()}`);
    return new URLSearchParams(location.split('#')[1]).get('access_token') ?? location;
  }

  it('grants what a policy of the app grants, by method and path, and tells who is calling', async () => {
    const granted = await check('?app=orders', reader, nginx('GET', '/orders/7?full=1'));
    expect([granted.status, granted.text]).to.deep.equal([200, '']);
    const { body } = await api.call('GET', '/Session?client=orders-reader&_result=array');
    const listed: readonly unknown[] = Array.isArray(body) ? body : [];
    expect(Object.fromEntries([...granted.headers].filter(([name]) => name.startsWith('x-auth-')))).to.deep.equal({
      'x-auth-client': 'orders-reader',
      // E-08: no value is empty.
      'x-auth-user': '-',
      'x-auth-scope': '-',
      'x-auth-session': listed.find(isObject)?.['id'],
      'x-auth-policy': 'read-orders',
    });
    expect(granted.headers.get('cache-control')).to.equal('no-store');
    for (const [method, uri] of [
      ['POST', '/orders/7'],
      ['GET', '/ordersx'],
      ['GET', '/orders/../admin'],
      ['GET', '/orders/%2e%2e/admin'],
    ] as const) {
      expect((await check('?app=orders', reader, nginx(method, uri))).status, `${method} ${uri}`).to.equal(403);
    }
    expect((await check('?app=billing', reader, nginx('GET', '/orders/7'))).status).to.equal(403);
  });

  it('R-58 grants no request whose query the app may read as another one', async () => {
    const host = 'tenants.example';
    for (const [query, status] of [
      ['a=x&tenant=mine', 200],
      ['a=x', 403],
      ['tenant=mine&tenant=other', 403],
      ['a=x#&tenant=mine', 403],
      ['tenant=mine&a=\u00fc', 403],
      ['tenant=mine;tenant=other', 403],
      ['tenant=mine&a;tenant=other', 403],
      ['?tenant=mine', 403],
      ['tenant=mine&Tenant=other', 403],
      ['tenant=mine&tenant[]=other', 403],
      ['tenant=mine&tenant]=other', 403],
      ['tenant=mine&[tenant=other', 403],
    ] as const) {
      const uri = `/orders?${query}`;
      expect((await check(`?app=${host}`, reader, nginx('GET', uri))).status, `nginx ${query}`).to.equal(status);
      expect((await check('', reader, caddy('GET', uri, host))).status, `caddy ${query}`).to.equal(status);
      // Some of these targets are 400, because they are that of the request itself here.
      expect((await check(uri, reader, { Host: host })).status === 200, `envoy ${query}`).to.equal(status === 200);
    }
  });

  it('shows policies the time of the request', async () => {
    expect((await check('?app=clock.example', reader, nginx('GET', '/fresh'))).status).to.equal(200);
    expect((await check('?app=clock.example', reader, nginx('GET', '/past'))).status).to.equal(403);
  });

  it('asks for a token, even where a policy is for anyone', async () => {
    const without = await check('?app=orders', undefined, nginx('GET', '/open'));
    expect([without.status, without.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer realm="default"']);
    const wrong = await check('?app=orders', 'bgt_nonsense', nginx('GET', '/open'));
    expect([wrong.status, wrong.headers.get('www-authenticate')]).to.deep.equal([
      401,
      'Bearer realm="default", error="invalid_token", error_description="The access token is not valid"',
    ]);
    expect((await check('?app=orders', stranger, nginx('GET', '/open'))).headers.get('x-auth-policy')).to.equal(
      'anybody',
    );
  });

  it('keeps policies for apps and policies for the own endpoints apart', async () => {
    expect((await check('?app=orders', stranger, nginx('GET', '/orders'))).status).to.equal(403);
    expect((await api.call('GET', '/orders', { token: stranger })).status).to.equal(404);
    expect((await api.call('GET', '/Client', { token: stranger })).status).to.equal(200);
    const open = { id: 'open-app', engine: 'allow', subjects: 'anyone', apps: ['*'] };
    expect((await api.call('POST', '/AccessPolicy', { body: open })).status).to.equal(201);
    expect((await check('?app=new', reader, nginx('DELETE', '/x'))).headers.get('x-auth-policy')).to.equal('open-app');
    expect((await api.call('GET', '/Client', { token: reader })).status).to.equal(403);
    expect((await api.call('GET', '/Client', { token: null })).status).to.equal(401);
    expect((await api.call('DELETE', '/AccessPolicy/open-app')).status).to.equal(200);
    expect((await check('?app=new', reader, nginx('DELETE', '/x'))).status).to.equal(403);
  });

  it('grants no request that an app may take for one of another method', async () => {
    // E-08: frameworks replace the method of a POST by that of a header.
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'x-http-method-override']) {
      for (const [value, status] of [
        ['GET', 200],
        ['get', 200],
        ['DELETE', 403],
        ['', 403],
        ['GET, DELETE', 403],
      ] as const) {
        const overridden = { [name]: value };
        const asked = { ...nginx('GET', '/orders/7'), ...overridden };
        expect((await check('?app=orders', reader, asked)).status, `nginx ${name} ${value}`).to.equal(status);
        const forwarded = { ...caddy('GET', '/orders/7', 'orders'), ...overridden };
        expect((await check('', reader, forwarded)).status, `caddy ${name} ${value}`).to.equal(status);
        const direct = await check('/orders/7', reader, { Host: 'orders', ...overridden });
        expect(direct.status, `envoy ${name} ${value}`).to.equal(status);
      }
    }
  });

  it('shows the name of a group, and that there is none, in two ways', async () => {
    // E-08: no value is empty, and no group can be named like the sign for none.
    const dash = await api.call('POST', '/Group', { body: { name: '-' } });
    const bob = await addUser(api, 'bob@shop.example', password);
    browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'bob@shop.example', password });
    const team = { id: 'bob', engine: 'allow', link: [{ resourceType: 'User', id: bob }], apps: ['team.example'] };
    expect((await api.call('POST', '/AccessPolicy', { body: team })).status).to.equal(201);
    for (const [groups, shown] of [
      [[], '-'],
      [[Reflect.get(Object(dash.body), 'id')], '%2D'],
    ] as const) {
      expect((await api.call('PUT', `/users/${String(bob)}`, { body: { 'group-ids': groups } })).status).to.equal(200);
      const token = await userToken({ scope: 'openid groups', audience: 'team.example' });
      const { headers } = await check('', token, caddy('GET', '/', 'team.example'));
      expect(headers.get('x-auth-groups')).to.equal(shown);
    }
  });

  it('reads no body: a policy that looks at one does not grant', async () => {
    const headers = { ...nginx('POST', '/orders'), 'Content-Type': 'application/json', 'Content-Length': '12' };
    const sent = Object.entries({ ...headers, Authorization: `Bearer ${stranger}` });
    const target = '/boxes/default/auth/check?app=orders';
    const reply = await sendRequest(api.url, { method: 'POST', target, headers: sent, body: '{"name":"x"}' });
    expect(reply.status).to.equal(403);
  });

  it('lets nobody say where the caller is but a trusted proxy', async () => {
    const office = (headers: Headers) => check('', reader, { ...caddy('GET', '/', 'Office.Example:443'), ...headers });
    expect((await office({ 'X-Forwarded-For': '192.0.2.1' })).status).to.equal(200);
    expect((await office({ 'X-Forwarded-For': '192.0.2.1, 198.51.100.7' })).status).to.equal(403);
    // Its own address is the gateway's, not the caller's.
    expect((await office({})).status).to.equal(403);
    const unknown = caddy('GET', '/', 'blocks.example');
    expect((await check('', reader, unknown)).status).to.equal(403);
    expect((await check('', reader, { ...unknown, 'X-Forwarded-For': '192.0.2.2' })).status).to.equal(200);
  });

  it('takes the token of a user for the app, or for the box with the scope boxgate', async () => {
    const ann = await addUser(api, 'ann@shop.example', password);
    const group = await api.call('POST', '/Group', { body: { name: 'Küche, Bad' } });
    const groups = [Reflect.get(Object(group.body), 'id')];
    expect((await api.call('PUT', `/users/${String(ann)}`, { body: { 'group-ids': groups } })).status).to.equal(200);
    browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'ann@shop.example', password });
    const asked = caddy('GET', '/', 'team.example');
    const cases: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
      [{ scope: 'openid' }, 403],
      [{ scope: 'boxgate' }, 200],
      [{ scope: 'openid', audience: 'team.example' }, 200],
      [{ scope: 'openid', audience: 'https://team.example' }, 200],
      [{ scope: 'boxgate', audience: 'https://other.example' }, 401],
    ];
    for (const [wish, status] of cases) {
      expect((await check('', await userToken(wish), asked)).status, JSON.stringify(wish)).to.equal(status);
    }
    const elsewhere = await check('', await userToken({ scope: 'boxgate', audience: 'https://other.example' }), asked);
    const description = 'The access token is for another audience than this app and this box';
    expect(elsewhere.headers.get('www-authenticate')).to.equal(
      `Bearer realm="default", error="invalid_token", error_description="${description}"`,
    );
    const shown = await check('', await userToken({ scope: 'openid email groups', audience: 'team.example' }), asked);
    expect(shown.headers.get('x-auth-user')).to.equal(String(ann));
    expect(shown.headers.get('x-auth-email')).to.equal('ann@shop.example');
    expect(shown.headers.get('x-auth-email-verified')).to.equal('false');
    expect(shown.headers.get('x-auth-groups')).to.equal('K%C3%BCche%2C%20Bad');
    expect(shown.headers.get('x-auth-scope')).to.equal('openid email groups');
    // An administrator gives another email: nobody says whether it is verified.
    for (const [body, verified] of [
      [{ email_verified: true }, 'true'],
      [{ email: 'ann@other.example' }, 'unknown'],
    ] as const) {
      expect((await api.call('PUT', `/users/${String(ann)}`, { body })).status).to.equal(200);
      const { headers } = await check('', await userToken({ scope: 'openid email', audience: 'team.example' }), asked);
      expect(headers.get('x-auth-email-verified')).to.equal(verified);
    }
    const token = await userToken({ scope: 'openid', audience: 'team.example' });
    expect((await check('', token, asked)).headers.has('x-auth-email-verified')).to.equal(false);
    expect((await api.call('PUT', `/users/${String(ann)}`, { body: { status: 'inactive' } })).status).to.equal(200);
    expect((await check('', token, asked)).status).to.equal(401);
  });

  it('is explained by $explain with an app, as it decides', async () => {
    const ask = (body: object) => api.call('POST', '/AccessPolicy/$explain', { body });
    const request = { 'request-method': 'get', uri: '/orders/%37?x=1' };
    const granted = await ask({ app: 'orders', subject: { client: 'orders-reader' }, request });
    expect(granted.body).to.deep.include({ granted: true, policy: 'read-orders' });
    const other = await ask({ app: 'orders', subject: { client: 'stranger' }, request });
    expect(other.body).to.deep.include({ granted: false });
    const own = await ask({ subject: { client: 'orders-reader' }, request });
    expect(own.body).to.deep.include({ granted: false, candidates: [] });
    const refusals: readonly (readonly [object, string])[] = [
      [{ app: 'orders', request }, 'subject must name a client or a user'],
      [{ app: 'Orders', subject: { client: 'stranger' }, request }, 'app'],
      [{ app: 'orders', subject: { client: 'stranger', audience: 'x' }, request }, 'subject.audience must be the app'],
      [
        { app: 'orders', subject: { client: 'stranger' }, request: { ...request, uri: '/a%2fb' } },
        'request.uri must have one reading only',
      ],
      [
        { app: 'orders', subject: { client: 'stranger' }, request: { ...request, body: {} } },
        'request.body is not seen by policies for apps',
      ],
      [
        {
          app: 'orders',
          subject: { client: 'stranger' },
          request: { ...request, headers: { 'X-HTTP-Method-Override': 'DELETE' } },
        },
        'request.headers must not override the method',
      ],
    ];
    for (const [question, sentence] of refusals) {
      const refused = await ask(question);
      expect(refused.status, refused.text).to.equal(422);
      expect(sentences(refused).join('; ')).to.include(sentence);
    }
  });

  it('refuses a token from the next request on, once its session is closed', async () => {
    const token = stringIn(await api.requestToken('orders-reader', secret), 'access_token');
    expect((await check('?app=orders', token, nginx('GET', '/orders'))).status).to.equal(200);
    expect((await api.call('DELETE', '/Session', { token })).status).to.equal(200);
    expect((await check('?app=orders', token, nginx('GET', '/orders'))).status).to.equal(401);
  });

  it('takes any method, and the Origin of the caller, in the dialect of Envoy', async () => {
    const policy = { id: 'envoy', engine: 'allow', link: toOrders, apps: ['envoy.example'] };
    expect((await api.call('POST', '/AccessPolicy', { body: policy })).status).to.equal(201);
    const host = { Host: 'envoy.example:8443', Origin: 'https://shop.example' };
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
      expect((await check('/orders/7?app=other', reader, host, method)).status, method).to.equal(200);
    }
    const preflight = { ...host, 'Access-Control-Request-Method': 'PUT' };
    expect((await check('/orders', undefined, preflight, 'OPTIONS')).status).to.equal(401);
    expect((await check('/', reader, host)).status).to.equal(200);
    expect((await check('/a%2Fb', reader, host)).status).to.equal(403);
    expect((await check('/%zz', reader, host)).status).to.equal(403);
  });
});

describe('/auth/check, called by a gateway that is no trusted proxy', () => {
  let api: BoxApi;
  before(async () => {
    api = await startBoxApi();
    const apps = ['office.example'];
    await api.declare('default', [
      { kind: 'Client', id: 'orders-reader', grant_types: ['client_credentials'], secret },
      { kind: 'AccessPolicy', id: 'own', engine: 'matcho', link: toOrders, apps, matcho: { 'remote-addr': 'nil?' } },
    ]);
  });
  after(() => api.stop());

  it('shows policies no address, whatever it says, and logs the first call only', async () => {
    const token = stringIn(await api.requestToken('orders-reader', secret), 'access_token');
    const told = { 'X-Forwarded-For': '192.0.2.1', ...caddy('GET', '/', 'office.example') };
    const headers = Object.entries({ ...told, Authorization: `Bearer ${token}` });
    for (let call = 0; call < 3; call += 1) {
      const { status } = await sendRequest(api.url, {
        method: 'GET',
        target: '/boxes/default/auth/check',
        headers: headers.map(([name, value]) => [name, value] as const),
      });
      expect(status).to.equal(200);
    }
    const warnings = api.logLines.filter((line) =>
      line.includes('/auth/check is called from 127.0.0.1, which is no trusted'),
    );
    expect(warnings).to.have.length(1);
  });
});
