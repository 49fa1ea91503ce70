import { expect } from 'chai';
import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib';
import { startRouteApi } from '../route-requests.ts';
import type { Change, RouteApi, RouteRequest } from '../route-requests.ts';
import type { RawReply } from '../raw-http.ts';

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const canary = 'canary-4711';

/** A plan is lines of JSON, and larger: test/http/plan/plan-endpoint.test.ts. */
const linesOnly = 'POST /$plan';
/** Routes to which an app posts a form for a person. */
const formsOnly: readonly string[] = ['POST /auth/authorize', 'POST /auth/logout'];

type Statuses = Readonly<Record<string, number>>;
/** Routes that need no parameter. */
const nothingSaid: Statuses = { 'POST /auth/userinfo': 200 };
/** JSON that is none, or no object; the resource endpoints read half a megabyte of brackets, OAuth's 64 KB. */
const malformed: Readonly<Record<string, (shape: string) => string>> = {
  'an open brace': () => `{"${canary}":`,
  'text behind the end': () => `{} ${canary}`,
  'single quotes': () => `{'client_id':'${canary}'}`,
  'a bare word': () => canary,
  'a control character in a string': () => `{"client_id":"${canary}\u0001"}`,
  'an array': () => `["${canary}"]`,
  'a string': () => `"${canary}"`,
  null: () => 'null',
  'a number': () => '4711',
  true: () => 'true',
  'nothing at all': () => '',
  'arrays in arrays': (shape) => nested('[', ']', shape === 'resource' ? 520_000 : 8_000),
  'objects in objects': (shape) => nested('{"a":', '}', shape === 'resource' ? 150_000 : 2_500, '1'),
  'open arrays': (shape) => '['.repeat(shape === 'resource' ? 1_000_000 : 16_000),
};

function nested(open: string, close: string, depth: number, inside = ''): string {
  return open.repeat(depth) + inside + close.repeat(depth);
}

describe('bodies', () => {
  let api: RouteApi;
  /** Requests with a body to the endpoints for programs. */
  let withBody: readonly RouteRequest[];
  /** Requests with a body to the endpoints and the pages. */
  let everyBody: readonly RouteRequest[];

  before(async () => {
    api = await startRouteApi();
    everyBody = api.requests.filter(({ name, body }) => body !== undefined && name !== linesOnly);
    withBody = everyBody.filter(({ shape }) => shape !== 'page');
    // The requests that change something find something.
    for (const request of everyBody) expect((await api.ask(request)).status, request.name).to.be.lessThan(400);
  });
  after(() => api.stop());

  /** Sends a change of every request that has a body, and checks that the next one is answered. */
  async function askAll(
    change: (request: RouteRequest) => Change,
    look: (reply: RawReply, name: string) => void,
    requests = everyBody,
  ) {
    for (const request of requests) look(await api.ask(request, change(request)), request.name);
    const [next] = api.requests.filter(({ shape }) => shape === 'plain');
    if (next !== undefined) expect((await api.ask(next)).status).to.equal(200);
  }

  describe('X-03 what is no JSON object is 400, and is logged nowhere', () => {
    for (const [what, body] of Object.entries(malformed)) {
      it(what, async () => {
        await askAll(
          ({ shape }) => ({ type: json, body: body(shape) }),
          ({ status, text }, name) => {
            const others = what === 'nothing at all' ? nothingSaid : {};
            expect(status, name).to.equal(others[name] ?? (formsOnly.includes(name) ? 415 : 400));
            if (status !== 200)
              expect(text, name).to.match(/"error":"invalid_request"|"OperationOutcome"|<!doctype html>/);
            expect(text, name).not.to.contain(canary);
          },
        );
        expect(api.logLines.join('\n')).not.to.contain(canary);
      });
    }
  });

  describe('X-04 a body of another type is 415', () => {
    const types = [
      ...['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/octet-stream', 'json'],
      ...['application/json; charset=utf-7', 'application/json; charset=utf-16', 'application/json; charset="latin1"'],
      ...['application/jsonx', 'application/', '/', ';', ', application/json', 'application/json, text/plain'],
    ];
    for (const type of [undefined, ...types]) {
      it(type ?? 'no Content-Type', async () => {
        await askAll(
          () => ({ type }),
          ({ status }, name) => {
            expect(status, name).to.equal(415);
          },
        );
      });
    }

    it("the other kind's: forms for resources, YAML for OAuth", async () => {
      await askAll(
        ({ shape }) => (shape === 'resource' ? { type: form } : { type: 'application/yaml' }),
        ({ status }, name) => {
          expect(status, name).to.equal(415);
        },
      );
    });

    const compressed: Readonly<Record<string, readonly [encoding: string, body: Buffer]>> = {
      gzip: ['gzip', gzipSync('{"a":1}')],
      'broken gzip': ['gzip', gzipSync('{"a":1}').subarray(3)],
      'a gzip bomb': ['gzip', gzipSync(Buffer.alloc(1 << 22))],
      deflate: ['deflate', deflateSync('{}')],
      brotli: ['br', brotliCompressSync('{}')],
      'gzip twice': ['gzip, gzip', gzipSync(gzipSync('{}'))],
      'an unknown encoding': ['rot13', Buffer.from('{}')],
    };
    for (const [what, [encoding, body]] of Object.entries(compressed)) {
      it(`compressed: ${what}`, async () => {
        await askAll(
          () => ({ body, headers: [['Content-Encoding', encoding]] }),
          ({ status }, name) => {
            expect(status, name).to.equal(415);
          },
        );
      });
    }

    it('names what it takes', async () => {
      await askAll(
        () => ({ type: 'text/plain' }),
        ({ headers }, name) => {
          expect(headers.get('accept') ?? headers.get('accept-post'), name).to.contain(json);
        },
        withBody,
      );
    });

    for (const type of [
      'application/json',
      'APPLICATION/JSON',
      'application/json;charset=utf-8',
      'application/json ; charset="UTF-8"',
    ]) {
      it(`takes ${type}`, async () => {
        await askAll(
          () => ({ type, body: '{"unknown_field":1}' }),
          ({ status }, name) => {
            expect([200, 400, 401, 422], name).to.contain(status);
          },
          withBody,
        );
      });
    }
  });

  describe('X-05 a body above the limit is 413 and ends the connection', () => {
    const limits = { oauth: 65_536, resource: 1_048_576, plain: 0, page: 65_536 } as const;
    const padded = ({ body = '', shape, type }: RouteRequest, length: number): string =>
      shape !== 'resource' && type === form ? `${body}&x=`.padEnd(length, 'x') : body.padEnd(length, ' ');

    const sizes: Readonly<Record<string, (request: RouteRequest) => Change>> = {
      'one byte more': (request) => ({ body: padded(request, limits[request.shape] + 1) }),
      'one byte more, in chunks': (request) => chunked(padded(request, limits[request.shape] + 1)),
      'a megabyte more': (request) => ({ body: padded(request, limits[request.shape] + 1_000_000) }),
      'a gigabyte announced': () => ({ body: 'x', headers: [['Content-Length', '1000000000']] }),
      'more than can be counted announced': () => ({ body: 'x', headers: [['Content-Length', '9007199254740992']] }),
    };
    for (const [what, change] of Object.entries(sizes)) {
      it(what, async () => {
        await askAll(change, ({ status, closed }, name) => {
          expect({ status, closed }, name).to.deep.equal({ status: 413, closed: true });
        });
      });
    }

    it('a stranger is told no limits: 401', async () => {
      for (const request of withBody.filter(({ shape }) => shape === 'resource')) {
        const reply = await api.ask(request, { authorization: undefined, body: padded(request, limits.resource + 1) });
        expect(reply.status, request.name).to.equal(401);
      }
    });

    it('takes a body of just the limit, whole and in chunks', async () => {
      for (const request of withBody.filter(({ method, path }) => method !== 'POST' || path.startsWith('/auth'))) {
        const body = padded(request, limits[request.shape]);
        for (const change of [{ body }, chunked(body)]) {
          const good = request.name === 'PUT /account/password' ? 204 : 200;
          expect((await api.ask(request, change)).status, request.name).to.equal(good);
        }
      }
    });
  });

  describe('X-07 names that reach prototypes are refused or plain data', () => {
    // Pairs: in an object literal the first of them would be no member.
    const members = [
      ['__proto__', '{"polluted":"yes"}'],
      ['constructor', '{"prototype":{"polluted":"yes"}}'],
      ['prototype', '{"polluted":"yes"}'],
      ['toString', '{"polluted":"yes"}'],
      ['hasOwnProperty', '"polluted"'],
      ['then', '"polluted"'],
    ] as const;
    const places: Readonly<Record<string, (member: string, body: string) => string>> = {
      'at the top': (member, body) => `{${member},${body.slice(1)}`,
      'in an object': (member, body) =>
        `{"auth":{"client_credentials":{${member}}},"details":{${member}},${body.slice(1)}`,
      'in an array': (member, body) => `{"link":[{${member}}],${body.slice(1)}`,
    };
    for (const [name, value] of members) {
      for (const [where, place] of Object.entries(places)) {
        it(`${name} ${where}, in JSON and in YAML`, async () => {
          for (const type of [json, 'application/yaml']) {
            await askAll(
              ({ body = '', shape }) => ({
                type: shape === 'resource' ? type : json,
                body: place(
                  `"${name}":${value}`,
                  shape !== 'resource' ? '{"grant_type":"client_credentials","token":"x"}' : body,
                ),
              }),
              ({ status, text }, route) => {
                expect([200, 201, 400, 403, 409, 415, 422], `${route}: ${text}`).to.contain(status);
                expect(text, route).not.to.contain('polluted');
              },
            );
          }
          expect(Reflect.get({}, 'polluted')).to.equal(undefined);
          expect(Reflect.get([], 'polluted')).to.equal(undefined);
        });
      }
    }
  });

  describe('X-08 what is no text is refused', () => {
    const broken: Readonly<Record<string, readonly [json: string | Buffer, form: string | Buffer]>> = {
      NUL: ['{"VALUE":"a\\u0000b"}', 'VALUE=a%00b'],
      'a raw NUL': ['{"VALUE":"a\0b"}', 'VALUE=a\0b'],
      'half a surrogate pair': ['{"VALUE":"a\\ud800b"}', 'VALUE=%ed%a0%80'],
      'the other half': ['{"VALUE":"a\\udc00b"}', 'VALUE=%ed%b0%80'],
      'an overlong slash': [Buffer.from('{"VALUE":"\xc0\xaf"}', 'latin1'), 'VALUE=%c0%af'],
      'a byte of no character': [Buffer.from('{"VALUE":"\xff"}', 'latin1'), 'VALUE=%ff'],
      'a raw byte of no character': [
        Buffer.from('{"VALUE":"\xfe\xff"}', 'latin1'),
        Buffer.from('VALUE=\xfe\xff', 'latin1'),
      ],
      'half a character': [Buffer.from('{"VALUE":"\xe2\x82"}', 'latin1'), 'VALUE=%e2%82'],
      'an escape of no byte': ['{"VALUE":"\\uZZZZ"}', 'VALUE=%zz'],
    };
    for (const [what, [inJson, inForm]] of Object.entries(broken)) {
      it(`${what}, in JSON and in a form`, async () => {
        for (const [type, body] of [
          [json, inJson],
          [form, inForm],
        ] as const) {
          for (const request of everyBody.filter(({ shape }) => type === json || shape !== 'resource')) {
            const field = request.shape === 'oauth' ? 'client_id' : 'description';
            const { status, text } = await api.ask(request, { type, body: replaced(body, field) });
            // A form for the authorization endpoint is validated when it comes once more, by GET.
            const ofForm = request.name === 'POST /auth/authorize' ? 303 : 400;
            const expected = formsOnly.includes(request.name) ? [type === json ? 415 : ofForm] : [400, 422];
            expect(expected, `${request.name}: ${text}`).to.contain(status);
          }
        }
      });
    }
  });
});

function replaced(body: string | Buffer, field: string): string | Buffer {
  if (typeof body === 'string') return body.replace('VALUE', field);
  return Buffer.from(body.toString('latin1').replace('VALUE', field), 'latin1');
}

/** The same body in two chunks. */
function chunked(body: string): Change {
  const half = Math.floor(body.length / 2);
  const chunks = [body.slice(0, half), body.slice(half), ''].map(
    (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
  );
  return { body: chunks.join(''), headers: [['Transfer-Encoding', 'chunked']] };
}
