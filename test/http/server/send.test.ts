import { expect } from 'chai';
import { Outage } from '../../../api/db/core/outage.ts';
import type { RequestContext } from '../../../api/http/request/request-context.ts';
import { errorAnswer } from '../../../api/http/server/errors.ts';
import { headerSafe } from '../../../api/http/server/send.ts';
import { expectClean } from '../hygiene.ts';
import { startRouteApi } from '../route-requests.ts';
import type { Change, RouteApi } from '../route-requests.ts';

const sampleContext: RequestContext = {
  requestId: '0123456789abcdef',
  started: 0,
  remoteAddr: '192.0.2.1',
  network: '192.0.2.1',
  box: 'default',
  moves: 0,
  path: '/auth/token',
  target: '/boxes/default/auth/token',
  route: '/auth/token',
  shape: 'oauth',
  client: undefined,
  policy: undefined,
  allowedOrigin: undefined,
  error: undefined,
  refusal: undefined,
  page: undefined,
  advice: undefined,
};

const get = { method: 'GET', headers: {} };

describe('answers', () => {
  let api: RouteApi;

  before(async () => {
    api = await startRouteApi();
  });
  after(() => api.stop());

  const named = (name: string) => {
    const request = api.requests.find((one) => one.name === name);
    if (request === undefined) throw new Error(`there is no route ${name}`);
    return request;
  };

  /** One way to each status: status, route, what is changed of its request. */
  const ways: readonly (readonly [status: number, route: string, change?: Change])[] = [
    [200, 'POST /auth/token'],
    [200, 'GET /.well-known/jwks.json'],
    [201, 'POST /Client'],
    [201, 'PUT /AccessPolicy/:id'],
    [200, 'PATCH /Client/:id'],
    [200, 'GET /Session'],
    [204, 'DELETE /Client/:id', { path: '/Client/never-there' }],
    [304, 'GET /Client/:id', { headers: [['If-None-Match', '*']] }],
    [400, 'POST /auth/token', { body: 'grant_type=' }],
    [400, 'GET /Client', { path: '/Client?unknown=1' }],
    [401, 'POST /auth/token', { authorization: 'Basic eDp5' }],
    [401, 'GET /Client', { authorization: undefined }],
    [401, 'DELETE /Session', { authorization: 'Bearer bgt_x' }],
    [404, 'GET /Client/:id', { path: '/Client/never-there' }],
    [405, 'POST /auth/token', { method: 'GET' }],
    [406, 'GET /Client', { headers: [['Accept', 'text/html']] }],
    [
      409,
      'POST /Client',
      { body: '{"resourceType":"Client","id":"sample","grant_types":["client_credentials"],"secret":"a-secret"}' },
    ],
    [409, 'PATCH /Client/:id', { path: '/Client/sample' }],
    [412, 'PATCH /Client/:id', { headers: [['If-Match', '"0"']] }],
    [413, 'POST /auth/token', { body: 'x'.repeat(70_000) }],
    [415, 'POST /Client', { type: 'text/plain' }],
    [422, 'PUT /Client/:id', { body: '{"id":"another"}' }],
  ];

  it('X-12 carry what any answer must, whatever their status', async () => {
    for (const [status, route, change] of ways) {
      const reply = await api.ask(named(route), change); // api.ask looks at the headers of every answer
      expect(reply.status, `${route}: ${reply.text}`).to.equal(status);
    }
  });

  it('X-12 are kept by no cache where they hold a token or a resource, and by each where anybody may read them', async () => {
    for (const request of api.requests.filter(({ method }) => method === 'GET' || method === 'POST')) {
      const { status, headers } = await api.ask(request);
      const byShape = {
        oauth: 'no-store',
        resource: 'private, no-store',
        plain: 'public, max-age=300',
        page: 'no-store',
      };
      const particular: Readonly<Record<string, string>> = {
        'POST /auth/userinfo': byShape.resource,
        'GET /auth/userinfo': byShape.resource,
        'GET /ui/:file': 'public, max-age=31536000, immutable',
      };
      const kept = particular[request.name] ?? byShape[request.shape];
      if (status < 300) expect(headers.get('cache-control'), request.name).to.equal(kept);
      if (request.shape === 'oauth') expect(headers.get('pragma'), request.name).to.equal('no-cache');
    }
  });

  it('X-12 of an OAuth endpoint have Pragma, whatever their status (RFC 6749 section 5.1)', async () => {
    const { body } = named('POST /auth/token');
    const oauth: readonly (readonly [status: number, route: string, change?: Change])[] = [
      [200, 'POST /auth/token'],
      [400, 'POST /auth/token', { path: '/auth/token?scope=x' }],
      [400, 'POST /auth/token', { body: 'grant_type=' }],
      [401, 'GET /auth/userinfo', { authorization: undefined }],
      [405, 'POST /auth/token', { method: 'PUT' }],
      [413, 'POST /auth/token', { body: 'x'.repeat(70_000) }],
      [415, 'POST /auth/token', { type: 'text/plain' }],
      [415, 'POST /auth/token', { body, headers: [['Content-Encoding', 'gzip']] }],
    ];
    for (const [status, route, change] of oauth) {
      const reply = await api.ask(named(route), change);
      expect(reply.status, `${route}: ${reply.text}`).to.equal(status);
      expect(reply.headers.get('pragma'), `${route} ${String(status)}`).to.equal('no-cache');
    }
    for (const shape of ['oauth', 'plain', 'resource', 'page'] as const) {
      const context = { ...sampleContext, shape };
      const answers = [new Outage('down'), new TypeError('bug')].map((error) => errorAnswer(error, context, get));
      const pragma = shape === 'oauth' ? 'no-cache' : undefined;
      expect(answers.map((answer) => answer.headers?.['Pragma'])).to.deep.equal([pragma, pragma]);
    }
  });

  it('of a page that cannot be shown now makes the browser load it again, but sends no form twice', () => {
    const context = { ...sampleContext, shape: 'page' as const };
    const refresh = (error: Error, method: string) =>
      errorAnswer(error, context, { ...get, method }).headers?.['Refresh'];
    expect(refresh(new Outage('down'), 'GET')).to.equal('3');
    expect(refresh(new Outage('down'), 'POST')).to.equal(undefined);
    expect(refresh(new TypeError('bug'), 'GET')).to.equal(undefined);
  });

  const check = '/boxes/default/auth/check';
  type Headers = readonly (readonly [name: string, value: string])[];
  const nginx: Headers = [
    ['X-Original-Method', 'GET'],
    ['X-Original-URI', '/orders'],
  ];
  const checks: readonly (readonly [status: number, target: string, headers: Headers])[] = [
    [401, `${check}?app=orders.example`, nginx],
    [401, `${check}/orders`, [['Authorization', 'Bearer bgt_x']]],
    [403, `${check}?app=orders.example`, nginx],
    [400, check, []],
    [400, `${check}?app=orders.example`, [...nginx, ['Content-Type', 'a'], ['Content-Type', 'b']]],
    [404, '/boxes/nobody/auth/check/orders', []],
  ];
  it('X-12 of the check leave the policies of the host of an app alone, to which a gateway passes them on', async () => {
    for (const [status, target, headers] of checks) {
      const authorization = status === 403 ? [['Authorization', `Bearer ${api.adminToken}`] as const] : [];
      const reply = await api.send({ method: 'GET', target, headers: [...headers, ...authorization] });
      expect(reply.status, `${target}: ${reply.text}`).to.equal(status);
      const names = ['strict-transport-security', 'content-security-policy'];
      expect(
        names.filter((name) => reply.headers.has(name)),
        target,
      ).to.deep.equal([]);
    }
    for (const target of ['/boxes/default/auth/checks', '/boxes/default/Client/auth/check']) {
      const { headers } = await api.send({ method: 'GET', target });
      expect(headers.has('content-security-policy'), target).to.equal(true);
    }
  });

  it('X-12 have ids of their own', async () => {
    const seen = new Set<string | undefined>();
    for (const [, route, change] of ways) seen.add((await api.ask(named(route), change)).headers.get('x-request-id'));
    expect(seen.size).to.equal(ways.length);
  });

  it('X-12 the check that every test of a route makes finds what is missing', async () => {
    const good = await api.ask(named('GET /.well-known/jwks.json'));
    for (const name of good.headers.keys()) {
      if (['date', 'connection', 'keep-alive', 'content-length', 'access-control-allow-origin'].includes(name))
        continue;
      const lacking = { ...good, headers: new Map([...good.headers].filter(([other]) => other !== name)) };
      expect(() => expectClean(lacking, 'a test'), name).to.throw();
    }
    for (const added of ['x-powered-by', 'server']) {
      const headers = new Map([...good.headers, [added, 'x']]);
      expect(() => expectClean({ ...good, headers }, 'a test'), added).to.throw();
    }
  });

  describe('X-13 nothing of a request ends a header', () => {
    const endings: Readonly<Record<string, string>> = {
      'CR LF': '%0d%0a',
      LF: '%0a',
      CR: '%0d',
      'U+2028': '%e2%80%a8',
      'U+2029': '%e2%80%a9',
      'U+0085': '%c2%85',
      'letters that look like CR LF when cut to a byte': '%e5%98%8d%e5%98%8a',
      'CR LF, encoded twice': '%250d%250a',
    };
    for (const [what, ending] of Object.entries(endings)) {
      const evil = `a${ending}Set-Cookie:%20evil=1${ending}${ending}<x>`;

      it(`${what} in a search, which comes back in Link`, async () => {
        for (const kind of ['Client', 'AccessPolicy', 'Session']) {
          for (const name of ['client', 'id', '_page', '_sort', 'name']) {
            await expectNoCookie('GET', `/${kind}?_result=array&${name}=${evil}`);
          }
        }
      });

      it(`${what} in an id, which comes back in Location and ETag`, async () => {
        const id = decodeURIComponent(evil);
        for (const kind of ['Client', 'AccessPolicy']) {
          await expectNoCookie(
            'PUT',
            `/${kind}/${evil}`,
            JSON.stringify({ grant_types: ['implicit'], engine: 'allow' }),
          );
          await expectNoCookie('POST', `/${kind}`, JSON.stringify({ resourceType: kind, id }));
        }
      });

      it(`${what} in the box, which comes back in WWW-Authenticate`, async () => {
        for (const path of ['Client', 'auth/token']) {
          const { status, headers } = await api.send({ method: 'GET', target: `/boxes/default${evil}/${path}` });
          expect(status).to.be.oneOf([400, 404]);
          expect(headers.has('set-cookie')).to.equal(false);
        }
      });
    }

    async function expectNoCookie(method: string, path: string, body?: string): Promise<void> {
      const headers = [
        ['Authorization', `Bearer ${api.adminToken}`],
        ['Content-Type', 'application/json'],
      ] as const;
      const request = { method, target: `/boxes/default${path}`, headers, ...(body === undefined ? {} : { body }) };
      const reply = await api.send(request);
      expect(reply.headers.has('set-cookie'), path).to.equal(false);
      expect([200, 400, 422], `${path}: ${reply.text}`).to.include(reply.status);
    }

    const values: Readonly<Record<string, string>> = {
      '': '',
      'a b~!"': 'a b~!"',
      'a\r\nB: c': 'a%0D%0AB: c',
      'a\tb': 'a%09b',
      é: '%C3%A9',
      '💩': '%F0%9F%92%A9',
      '\u2028': '%E2%80%A8',
      嘍嘊: '%E5%98%8D%E5%98%8A',
      '\ud800': '%EF%BF%BD',
      '\0\x7f': '%00%7F',
    };
    for (const [value, safe] of Object.entries(values)) {
      it(`${JSON.stringify(value)} is in a header as ${safe}`, () => {
        expect(headerSafe(value)).to.equal(safe);
      });
    }
  });
});
