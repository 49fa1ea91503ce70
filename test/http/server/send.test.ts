import { expect } from 'chai';
import { headerSafe } from '../../../api/http/server/send.ts';
import { expectClean } from '../hygiene.ts';
import { startRouteApi } from '../route-requests.ts';
import type { Change, RouteApi } from '../route-requests.ts';

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
    [413, 'POST /auth/token', { body: 'x'.repeat(20_000) }],
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
