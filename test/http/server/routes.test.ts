import { expect } from 'chai';
import { routes } from '../../../api/app.ts';
import type { ErrorShape } from '../../../api/http/request/request-context.ts';
import { messages } from '../../../api/pages/messages.ts';
import { startRouteApi } from '../route-requests.ts';
import type { RouteApi } from '../route-requests.ts';

/** Addresses at which nothing is, below a box; each with every method. */
const nowhere = [
  ...['/nothing', '/client', '/Client/', '/Client/x/y', '/Client//', '//Client', '/Clients', '/Session/x/y'],
  ...[
    '/auth',
    '/auth/',
    '/auth/token/',
    '/AUTH/TOKEN',
    '/auth/authorize/',
    '/Users',
    '/users/',
    '/users/1/x',
    '/ui/x/y',
    '/.well-known/',
    '/.env',
  ],
  ...['/../Client', '/./Client', '/Client/../Session', '/%2e%2e/Client', '/%43lient', '/Client%2Fx', '/Client;x', '*'],
  ...['/boxes/default/Client', '/AccessPolicy/$explain/x', '/constructor', '/__proto__', '/toString/x'],
  ...new Set(routes.flatMap(([, path, shape]) => (shape === 'resource' ? [`/${path.split('/')[1] ?? ''}/x/y/z`] : []))),
];

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Methods that node reads, and which of our paths knows none. */
const foreign = ['TRACE', 'PROPFIND', 'SEARCH', 'QUERY', 'LINK', 'PURGE', 'COPY', 'LOCK'];

/** Text in the rejection of a method, by shape. */
const refusals = {
  oauth: '"error":"invalid_request"',
  plain: '"error":"invalid_request"',
  resource: '"resourceType":"OperationOutcome"',
  page: messages.en.problems['method-not-allowed'],
} as const satisfies Record<ErrorShape, string>;

/** below a resource type, also of a box that is not there. */
const outcome =
  /^{"resourceType":"OperationOutcome","id":"[\w-]+","issue":\[{"severity":"error","code":"not-found","diagnostics":"There is nothing at this address"}\]}$/;

function isBelowResource(path: string): boolean {
  return routes.some(([, of, shape]) => shape === 'resource' && path.split(/[/?]/)[1] === of.split('/')[1]);
}

describe('routes', () => {
  let api: RouteApi;

  before(async () => {
    api = await startRouteApi();
  });
  after(() => api.stop());

  it('answer each with success, when asked as they want it', async () => {
    const refused: string[] = [];
    for (const request of api.requests.toSorted((a, b) => rank(a.name) - rank(b.name))) {
      const { status, text } = await api.ask(request);
      const others = request.path.startsWith('/account/') ? [204] : [];
      if (![200, 201, 302, 303, ...others].includes(status)) refused.push(`${request.name}: ${String(status)} ${text}`);
    }
    expect(refused).to.deep.equal([]);
  });

  describe('X-01 an unknown path is a bare 404 in JSON', () => {
    for (const path of nowhere) {
      it(`${path}, with every method, in a box and without one`, async () => {
        for (const base of path.startsWith('/') ? ['/boxes/default', '/boxes/not-there', ''] : ['/boxes/default/']) {
          if (base === '' && path === '/boxes/default/Client') continue;
          for (const method of methods) {
            const { status, text, headers } = await api.send({ method, target: `${base}${path}` });
            expect(status, `${method} ${base}${path}`).to.equal(404);
            if (method !== 'HEAD' && isBelowResource(path)) expect(text).to.match(outcome);
            else if (method !== 'HEAD') expect(text).to.equal('{"error":"not_found"}');
            expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
          }
        }
      });
    }
  });

  describe('X-02 a wrong method is 405 and says which are right', () => {
    for (const [path, [first]] of Map.groupBy(routes, ([, path]) => path)) {
      const right = routes.filter((route) => route[1] === path).map(([method]): string => method);
      const allow = [...right, ...(right.includes('GET') ? ['HEAD'] : [])];

      it(`${path}: ${allow.join(', ')}`, async () => {
        for (const method of [...methods, ...foreign].filter((one) => one !== 'OPTIONS' && !allow.includes(one))) {
          const body = method === 'TRACE' ? undefined : 'canary-of-the-body';
          const target = `/boxes/default${path.replace(':id', 'x')}`;
          const headers = [['X-Canary', 'canary-of-the-header']] as const;
          const reply = await api.send({ method, target, headers, ...(body === undefined ? {} : { body }) });
          expect(reply.status, method).to.equal(405);
          expect(reply.headers.get('allow'), method).to.equal(allow.join(', '));
          expect(reply.whole, method).not.to.contain('canary');
          if (method !== 'HEAD') expect(reply.text, method).to.contain(refusals[first?.[2] ?? 'plain']);
        }
      });

      // E-23, RFC 9110 §9.3.7.
      it(`${path}: OPTIONS is 204 and says which are right, to no other origin`, async () => {
        const target = `/boxes/default${path.replace(':id', 'x')}`;
        const { status, headers } = await api.send({ method: 'OPTIONS', target });
        expect([status, headers.get('allow')]).to.deep.equal([204, allow.join(', ')]);
        expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).to.deep.equal([]);
      });
    }

    it('CONNECT is 405, whatever it asks for', async () => {
      for (const target of ['example.com:443', '127.0.0.1:5432', 'localhost:22']) {
        const { status, headers, closed } = await api.send({ method: 'CONNECT', target });
        expect({ status, closed }).to.deep.equal({ status: 405, closed: true });
        expect(headers.get('allow')).to.match(/GET.*POST/);
      }
    });

    for (const method of ['BREW', 'get', 'G3T', 'GETT', 'X', 'POST/1']) {
      it(`the made-up method ${method} is 400`, async () => {
        for (const path of ['/auth/token', '/Client', '/nothing']) {
          expect(await api.send({ method, target: `/boxes/default${path}` })).to.include({ status: 400, closed: true });
        }
      });
    }
  });

  it('answer HEAD like GET, without the body', async () => {
    for (const request of api.requests.filter(({ method }) => method === 'GET')) {
      const [get, head] = [await api.ask(request), await api.ask(request, { method: 'HEAD' })];
      expect([head.status, head.text], request.name).to.deep.equal([get.status, '']);
      // The list of requests may have got longer by the first of the two.
      const own = request.name === 'GET /AccessPolicy/$requests' ? ['content-length'] : [];
      const compared = (headers: ReadonlyMap<string, string>) =>
        [...headers].filter(([name]) => !['date', 'x-request-id', ...own].includes(name));
      expect(compared(head.headers), request.name).to.deep.equal(compared(get.headers));
    }
  });

  it('have no Access-Control header but on the public documents, which anybody may read', async () => {
    const origin = [['Origin', 'https://evil.example']] as const;
    for (const request of api.requests) {
      const { headers } = await api.ask({ ...request, authorization: undefined }, { headers: origin });
      const cors = [...headers].filter(([name]) => name.startsWith('access-control-'));
      const expected = request.shape === 'plain' ? [['access-control-allow-origin', '*']] : [];
      expect(cors, request.name).to.deep.equal(expected);
    }
  });

  it('grant no preflight but on the public documents, which anybody may read', async () => {
    const asked = [
      ['Origin', 'https://evil.example'],
      ['Access-Control-Request-Method', 'POST'],
      ['Access-Control-Request-Headers', 'authorization'],
    ] as const;
    for (const request of api.requests) {
      const { status, headers } = await api.ask(request, { method: 'OPTIONS', headers: asked, body: undefined });
      const isGranted = [...headers.keys()].some((name) => name.startsWith('access-control-'));
      expect([status, isGranted], request.name).to.deep.equal([204, request.shape === 'plain']);
    }
  });

  it('answer a path that is no text with 400 in the shape of its kind, and one with escapes like any other', async () => {
    const rows = [
      ['/Client/%ff', 400, 'OperationOutcome'],
      ['/Client/%00', 400, 'OperationOutcome'],
      ['/Client/%0d%0aX:1', 400, 'OperationOutcome'],
      ['/Client/%', 400, 'OperationOutcome'],
      ['/Client/%c0%af', 400, 'OperationOutcome'],
      ['/Client/%ed%a0%80', 400, 'OperationOutcome'],
      ['/Session/%ff', 400, 'OperationOutcome'],
      ['/auth/token%ff', 400, '"error":"invalid_request"'],
      ['/auth/userinfo%ff', 400, '"error":"invalid_request"'],
      ['/nothing/%ff', 400, '"error":"invalid_request"'],
      ['/Client/a%2Fb', 404, 'OperationOutcome'],
      ['/Client/..%2fx', 404, 'OperationOutcome'],
      ['/Client/%e2%80%ae', 404, 'OperationOutcome'],
      ['/Client/%73ample', 200, '"id":"sample"'],
      ['/Client/sample?_elements=%ff', 400, 'OperationOutcome'],
    ] as const;
    for (const [path, status, contained] of rows) {
      const headers = [['Authorization', `Bearer ${api.adminToken}`]] as const;
      const reply = await api.send({ method: 'GET', target: `/boxes/default${path}`, headers });
      expect(reply.status, path).to.equal(status);
      expect(reply.text, path).to.contain(contained);
    }
  });
});

/** Returns the order of a request: those that create come first, those that delete last. */
function rank(name: string): number {
  return ['POST', 'PUT', 'GET', 'PATCH', 'DELETE'].findIndex((method) => name.startsWith(method));
}
