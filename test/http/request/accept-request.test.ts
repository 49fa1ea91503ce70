import { expect } from 'chai';
import { adminSecret } from '../resources/box-api.ts';
import { expectClean } from '../hygiene.ts';
import { sendBytes } from '../raw-http.ts';
import { startRouteApi } from '../route-requests.ts';
import type { Asker, RouteApi, RouteRequest } from '../route-requests.ts';

const basic = `Basic ${btoa(`admin:${adminSecret}`)}`;

describe('the first step of a request', () => {
  let api: RouteApi;

  before(async () => {
    api = await startRouteApi();
    for (const request of api.requests.filter(({ method }) => method === 'POST')) await api.ask(request);
  });
  after(() => api.stop());

  const ofShape = (shape: RouteRequest['shape']): readonly RouteRequest[] =>
    api.requests.filter((request) => request.shape === shape);
  const askedBy = (asker: Asker): readonly RouteRequest[] => api.requests.filter((request) => request.asker === asker);

  async function expectAll(
    requests: readonly RouteRequest[],
    status: number,
    change: (request: RouteRequest) => Parameters<RouteApi['ask']>[1],
  ): Promise<void> {
    for (const request of requests) {
      const reply = await api.ask(request, change(request));
      expect(reply.status, `${request.name}: ${reply.text}`).to.equal(status);
    }
  }

  describe('X-06 a parameter that stands twice is 400', () => {
    for (const name of ['grant_type', 'client_id', 'client_secret', 'token', 'scope', 'audience', 'unknown']) {
      it(`${name} in a form, in JSON, in address and body`, async () => {
        const requests = askedBy('client');
        const type = 'application/json';
        await expectAll(requests, 400, ({ body }) => ({ body: `${body ?? ''}&${name}=a&${name}=b` }));
        await expectAll(requests, 400, ({ body }) => ({ body: `${body ?? ''}&${name}=a&${name}=a` }));
        await expectAll(requests, 400, () => ({ type, body: `{"${name}":"a","${name}":"b"}` }));
        if (name === 'unknown') return;
        await expectAll(requests, 400, ({ path }) => ({ path: `${path}?${name}=a` }));
        await expectAll(requests, 400, ({ path }) => ({ path: `${path}?${name}=a&${name}=b` }));
      });
    }

    it('of a search or a read', async () => {
      const reads = ofShape('resource').filter(({ method }) => method === 'GET');
      for (const query of ['_elements=id&_elements=id', '_count=1&_count=2', '_sort=id&_sort=-id']) {
        await expectAll(reads, 400, ({ path }) => ({ path: `${path}?${query}` }));
      }
    });

    it('of a change, which takes none at all', async () => {
      const changes = ofShape('resource').filter(({ method }) => method !== 'GET');
      for (const query of ['a=1', 'a=1&a=2', 'client=other', '_count=1']) {
        await expectAll(changes, 400, ({ path }) => ({ path: `${path}?${query}` }));
      }
    });

    it('is passed over where no parameter is read: the public documents', async () => {
      await expectAll(ofShape('plain'), 200, ({ path }) => ({ path: `${path}?a=1&a=2` }));
    });
  });

  describe('X-08 what is no text in a query or a header is never 500', () => {
    for (const value of ['%00', '%ff', '%c0%af', '%ed%a0%80', '%', '%zz', '%e2%82', '\xff', 'x'.repeat(5_000)]) {
      it(`a query with ${value.slice(0, 10)}`, async () => {
        for (const name of ['client', '_page', value]) {
          // The others do not read a query: once will do.
          for (const request of name === 'client' ? api.requests : ofShape('resource')) {
            const { status, text } = await api.ask(request, { path: `${request.path}?${name}=${value}` });
            // WHATWG's URL standard reads a lone % as itself: text, if odd.
            const harmless = request.shape !== 'resource' || value === '%' || value === '%zz';
            // Somebody has registered with this email already.
            if (request.name === 'POST /auth/signup') expect(status).to.be.oneOf([400, 422, 429]);
            else
              expect(harmless ? [200, 201, 204, 303, 400] : [400], `${request.name} ${name}: ${text}`).to.contain(
                status,
              );
          }
        }
      });
    }

    it('a number that is none, or too big for Postgres', async () => {
      const searches = ofShape('resource').filter(({ name }) => /^GET .*[a-z]$/.test(name) && !name.endsWith(':id'));
      for (const name of ['_count', 'created_at', 'expires_at', 'user', '_page']) {
        for (const value of ['99999999999999999999', '-1', '1e999', '0x10', 'ge99999-01-01', 'NaN', '2147483648.5']) {
          for (const request of searches) {
            const { status, text } = await api.ask(request, { path: `${request.path}?${name}=${value}` });
            expect([200, 400], `${request.name} ${name}=${value}: ${text}`).to.contain(status);
          }
        }
      }
    });

    const values = ['\xff\xfe', '"', ',;=', '%00', 'x'.repeat(1_000)];
    for (const header of ['Accept', 'If-Match', 'If-None-Match', 'Content-Type']) {
      it(`the header ${header}`, async () => {
        const requests = api.requests.filter(({ method }) => method !== 'DELETE' && method !== 'POST');
        for (const value of values) {
          for (const request of requests) {
            const type = header === 'Content-Type' ? undefined : request.type;
            await api.ask(request, { type, headers: [[header, value]] }); // expectClean fails on a 5xx
          }
        }
      });
    }

    it('headers that nobody reads', async () => {
      for (const value of values) {
        const headers = ['User-Agent', 'Cookie', 'Origin', 'X-Request-Id', 'X-Forwarded-For', 'Via'].map(
          (name) => [name, value] as const,
        );
        for (const request of api.requests.filter(({ method }) => method !== 'DELETE')) {
          expect((await api.ask(request, { headers })).status, request.name).to.be.lessThan(500);
        }
      }
    });

    const tokens = ['', ' ', '\xff', '%00', 'x y', 'bgt_', 'bgt_%00', '..', 'a.b.c', 'e30.e30.e30', 'x'.repeat(9_000)];
    for (const token of tokens) {
      it(`the bearer token ${JSON.stringify(token.slice(0, 12))}: 401`, async () => {
        await expectAll(askedBy('token'), 401, () => ({ authorization: `Bearer ${token}` }));
      });
    }

    for (const credentials of ['\0:x', 'admin:\0', '\xff\xfe:x', 'admin:\xff', ':', 'admin', '', 'a\r\nb:c']) {
      it(`Basic credentials ${JSON.stringify(credentials)}: 401`, async () => {
        const encoded = Buffer.from(credentials, 'latin1').toString('base64');
        await expectAll(askedBy('client'), 401, () => ({ authorization: `Basic ${encoded}` }));
      });
    }
  });

  describe('X-09 two ways to say who one is are 400', () => {
    it('two Authorization headers, equal, different, or one of them empty', async () => {
      for (const second of ['same', 'Bearer bgt_other', '']) {
        await expectAll(api.requests, 400, ({ authorization = basic }) => ({
          authorization,
          headers: [['authorization', second === 'same' ? authorization : second]],
        }));
      }
    });

    it('a token in the header and in the query', async () => {
      for (const name of ['access_token', 'access%5ftoken', 'a=1&access_token']) {
        await expectAll([...askedBy('token'), ...askedBy('client')], 400, ({ path }) => ({
          path: `${path}?${name}=${api.adminToken}`,
        }));
      }
    });

    it('a token in the query alone, where it is not read', async () => {
      const others = ofShape('resource').filter(({ path }) => !path.includes('/users'));
      await expectAll([...others, ...ofShape('oauth')], 400, ({ path }) => ({
        path: `${path}?access_token=${api.adminToken}`,
        authorization: undefined,
      }));
    });

    it('Basic and a secret in the body, in a form and in JSON', async () => {
      const body = { grant_type: 'client_credentials', token: 'x', client_id: 'admin', client_secret: adminSecret };
      await expectAll(askedBy('client'), 400, () => ({ body: new URLSearchParams(body).toString() }));
      await expectAll(askedBy('client'), 400, () => ({ type: 'application/json', body: JSON.stringify(body) }));
    });

    it("another scheme than the endpoint's is 401", async () => {
      await expectAll(askedBy('client'), 401, () => ({ authorization: `Bearer ${api.adminToken}` }));
      for (const authorization of [basic, 'Digest x', api.adminToken, `Bearer,${api.adminToken}`, 'Negotiate']) {
        await expectAll(askedBy('token'), 401, () => ({ authorization }));
      }
    });

    for (const [name, value] of [
      ['Host', '127.0.0.1'],
      ['Content-Type', 'application/json'],
      ['If-Match', '"1"'],
      ['Cookie', 'a=b'],
    ] as const) {
      it(`two headers ${name}`, async () => {
        await expectAll(api.requests, 400, () => ({
          type: undefined,
          headers: [
            [name, value],
            [name.toLowerCase(), value],
          ],
        }));
      });
    }
  });

  describe('X-10 what could be read in two ways is 400 or 431', () => {
    const post = 'POST /boxes/default/auth/token HTTP/1.1\r\nHost: x\r\n';
    const get = 'GET /boxes/default/Client HTTP/1.1\r\n';
    const smuggled = 'GET /boxes/default/Client HTTP/1.1\r\nHost: x\r\n\r\n';
    const rows: Readonly<Record<string, readonly [status: number, bytes: string]>> = {
      'Content-Length and Transfer-Encoding': [
        400,
        `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      ],
      'Transfer-Encoding and Content-Length': [
        400,
        `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`,
      ],
      'Transfer-Encoding twice': [
        400,
        `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
      ],
      'Transfer-Encoding with chunked first': [400, `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
      'an unknown Transfer-Encoding': [400, `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
      'Content-Length twice': [400, `${post}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`],
      'a negative Content-Length': [400, `${post}Content-Length: -1\r\n\r\n`],
      'a Content-Length with a sign': [400, `${post}Content-Length: +5\r\n\r\nabcde`],
      'a Content-Length of two numbers': [400, `${post}Content-Length: 5, 5\r\n\r\nabcde`],
      'a chunk without a size': [400, `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
      'a folded header': [400, `${get}Host: x\r\nX-A: b\r\n c\r\n\r\n`],
      'a folded header after a tab': [400, `${get}Host: x\r\nX-A: b\r\n\tc\r\n\r\n`],
      'a blank before the colon': [400, `${get}Host: x\r\nAuthorization : Bearer x\r\n\r\n`],
      'a header without a name': [400, `${get}Host: x\r\n: x\r\n\r\n`],
      'a header without a colon': [400, `${get}Host: x\r\nX-A\r\n\r\n`],
      'a NUL in a header': [400, `${get}Host: x\r\nX-A: a\0b\r\n\r\n`],
      'lines that end in LF alone': [400, `${get.replace('\r', '')}Host: x\n\n`],
      'a header of 33 KB': [431, `${get}Host: x\r\nX-A: ${'a'.repeat(33_000)}\r\n\r\n`],
      'an address of 33 KB': [431, `GET /${'a'.repeat(33_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      '2001 headers': [431, `${get}Host: x\r\n${'a:b\r\n'.repeat(2_001)}X-A: ${'a'.repeat(24_000)}\r\n\r\n`],
      '2001 short headers': [431, `${get}Host: x\r\n${'a:b\r\n'.repeat(2_001)}\r\n`],
      '101 headers': [400, `${get}Host: x\r\n${'a:b\r\n'.repeat(100)}\r\n`],
      'no Host': [400, `${get}\r\n`],
      'an address that is no path': [400, 'GET boxes/default/Client HTTP/1.1\r\nHost: x\r\n\r\n'],
      'a blank in the address': [400, 'GET /boxes/default /Client HTTP/1.1\r\nHost: x\r\n\r\n'],
      'a target of another scheme': [400, 'GET foo://bar HTTP/1.1\r\nHost: x\r\n\r\n'],
      'a target with a broken host': [400, 'GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n'],
      'a target with a fragment': [400, 'GET /boxes/default//a@[/# HTTP/1.1\r\nHost: x\r\n\r\n'],
      'an unknown version': [400, 'GET /boxes/default/Client HTTP/3.0\r\nHost: x\r\n\r\n'],
      'no version': [400, 'GET /boxes/default/Client\r\nHost: x\r\n\r\n'],
      'no HTTP at all': [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      'the preface of HTTP/2': [400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    };
    for (const [what, [status, bytes]] of Object.entries(rows)) {
      it(what, async () => {
        const reply = await sendBytes(api.url, bytes);
        expectClean(reply, what);
        expect(reply.status).to.equal(status);
        expect(reply.whole.match(/HTTP\/1\.1 /g), 'one answer only').to.have.length(1);
      });
    }

    const hosts = [
      ...[
        '',
        ' ',
        'a b',
        'a/b',
        'a@b',
        'a?b',
        'a#b',
        'user:pass@host',
        'host:port',
        'host:123456',
        'a,b',
        '[::1',
        '::1',
      ],
      ...['host\\x', '%61', 'höst', '-', '.', 'a..b:', 'a'.repeat(300), '<script>', '${jndi}', '[gggg::]', 'a\tb'],
    ];
    for (const host of hosts) {
      it(`the Host ${JSON.stringify(host.slice(0, 20))}`, async () => {
        for (const target of ['/boxes/default/Client', '/.well-known/jwks.json', '/nothing']) {
          expect((await api.send({ method: 'GET', target, headers: [['Host', host]] })).status, target).to.equal(400);
        }
      });
    }

    // E-23, RFC 9112 §3.2.
    const answered = {
      'a request of HTTP/1.0 without Host, by its path': [200, 'GET /boxes/default/.well-known/jwks.json HTTP/1.0\r\n'],
      'a request of HTTP/1.0 without Host and box': [404, 'GET /.well-known/jwks.json HTTP/1.0\r\n'],
      'a target in absolute form': [200, 'GET http://x/boxes/default/.well-known/jwks.json HTTP/1.1\r\nHost: y\r\n'],
      'a target in absolute form with a query alone': [404, 'GET http://x?a=1 HTTP/1.1\r\nHost: y\r\n'],
      'a target in absolute form without Host': [400, 'GET http://x/boxes/default/Client HTTP/1.1\r\n'],
    } as const;
    for (const [what, [status, head]] of Object.entries(answered)) {
      it(`${what} is ${String(status)}`, async () => {
        const reply = await sendBytes(api.url, `${head}\r\n`);
        if (status !== 200) expectClean(reply, what);
        expect(reply.status).to.equal(status);
      });
    }

    it('an expectation that nobody knows is passed over', async () => {
      await expectAll(ofShape('plain'), 200, () => ({ headers: [['Expect', 'miracles']] }));
    });

    it('closes the connection after a request for another protocol, for what follows it is lost', async () => {
      const upgrade = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
      const get = await sendBytes(
        api.url,
        `GET /boxes/default/.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n${smuggled}`,
      );
      expect([get.status, get.closed]).to.deep.equal([200, true]);
      const asked = await sendBytes(api.url, `${post}${upgrade}Content-Length: 3\r\n\r\na=b`);
      expect([asked.status, asked.closed]).to.deep.equal([415, true]);
    });

    it('says the error in the shape of an OAuth error, with an id that is in the log', async () => {
      const { text, headers } = await sendBytes(api.url, 'nonsense\r\n\r\n');
      expect(text).to.equal('{"error":"invalid_request"}');
      const line = api.logLines.find((one) => one.includes(headers.get('x-request-id') ?? '?'));
      expect(JSON.parse(line ?? '{}')).to.include({ route: '(broken)', status: 400, remote_addr: '127.0.0.1' });
    });
  });
});
