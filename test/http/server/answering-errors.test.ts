import { expect } from 'chai';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { RequestListener, Server } from 'node:http';
import { Writable } from 'node:stream';
import { Outage } from '../../../api/db/core/outage.ts';
import { createDeviceTokens } from '../../../api/credentials/device-token.ts';
import { createKnownBoxes } from '../../../api/http/request/box-address.ts';
import { readBody, heldBodyBytes } from '../../../api/http/request/read-body.ts';
import { createUiFiles } from '../../../api/http/ui/ui-files.ts';
import { createRouter } from '../../../api/http/server/router.ts';
import { routes as everyRoute, subtrees as everySubtree } from '../../../api/app.ts';
import type { Endpoint } from '../../../api/http/request/request-context.ts';
import type { Route, Subtree } from '../../../api/http/server/router.ts';
import { listen } from '../../../api/http/server/server.ts';
import { everyAnswer } from '../../../api/http/server/send.ts';
import { createByteBudget } from '../../../api/shares/byte-budget.ts';
import { createFailureSlot } from '../../../api/credentials/key-sealing.ts';
import { createKnownAddresses } from '../../../api/http/throttle/secret-guess.ts';
import { createSharedFailures } from '../../../api/http/throttle/failures-of-all-replicas.ts';
import { createInFlight } from '../../../api/shares/in-flight.ts';
import { createPasswordLimits } from '../../../api/http/throttle/password-guess.ts';
import { createThrottle, defaultThrottle } from '../../../api/http/throttle/throttle.ts';
import { createLog } from '../../../program/log.ts';
import { makeWorld } from '../../oauth/world.ts';
import type { World } from '../../oauth/world.ts';
import { Problem } from '../../../api/problem.ts';
import { eventually } from '../../support/eventually.ts';
import { openSocket, sendRequest } from '../raw-http.ts';
import type { RawReply } from '../raw-http.ts';

const secretly = () => new TypeError("canary: cannot read 'x' of undefined in SELECT * FROM session");
const away = () => new Outage('Postgres cannot answer now', { cause: new Error('canary: connect ECONNREFUSED') });

const shapes = ['oauth', 'resource', 'plain'] as const;

/** A path for each shape and sort of error. */
const routes: readonly Route[] = [
  ...shapes.flatMap((shape): Route[] => [
    ['GET', `/bug/${shape}`, shape, () => () => Promise.reject(secretly())],
    ['GET', `/outage/${shape}`, shape, () => () => Promise.reject(away())],
  ]),
  [
    'GET',
    '/late',
    'plain',
    () => async (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half');
      return Promise.reject(secretly());
    },
  ],
  ['GET', '/unsendable', 'oauth', () => () => Promise.reject(new Problem('invalid', 'x', { 'canary name': 'x' }))],
  [
    'GET',
    '/broken',
    'plain',
    () => (_request, response) => {
      response.writeHead = () => {
        throw new RangeError('canary: it writes nothing');
      };
      return Promise.reject(secretly());
    },
  ],
  [
    'POST',
    '/body',
    'plain',
    () => async (request) => {
      await readBody(request, 1000);
    },
  ],
];

/** Before the paths of the routes that fail, because the OpenAPI document describes no bug. */
const FAILING = '/failing';

/** The handler of a route; once it has answered nothing and the body was read to its end, it fails. */
function failingAtItsEnd(endpoint: Endpoint): Endpoint {
  return async (request, response, path) => {
    response.writeHead = () => {
      throw secretly();
    };
    await endpoint(request, response, path).catch(() => undefined);
    if (!request.readableEnded) await buffer(request);
    Reflect.deleteProperty(response, 'writeHead');
    throw secretly();
  };
}

const failingRoutes = everyRoute.map(([method, path, shape, make]): Route => {
  return [method, `${FAILING}${path}`, shape, (context) => failingAtItsEnd(make(context))];
});
const failingSubtrees = everySubtree.map(([path, shape, make]): Subtree => {
  return [`${FAILING}${path}`, shape, (context) => failingAtItsEnd(make(context))];
});

describe('errors as answers', () => {
  let world: World;
  let server: Server;
  let failing: Server;
  let url = '';
  let failingUrl = '';
  let lines: string[] = [];
  const nothing = (): void => undefined;
  /** Functions that a request also calls, and in which it may fail. */
  let surroundings = { onAnswer: nothing, isTrustedProxy: () => false };

  before(async () => {
    world = await makeWorld();
    await world.declare('shop', { kind: 'AccessPolicy', id: 'p', engine: 'allow' });
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString('utf8'));
        done();
      },
    });
    const throttle = createThrottle(defaultThrottle, Date.now);
    const key = Buffer.alloc(32, 1);
    const context = {
      oauth: world.services,
      uiFiles: createUiFiles(),
      log: createLog('info', destination),
      addressing: {
        clusterDomain: 'cluster.local',
        isForeignHost: () => false,
        boxOfHost: () => Promise.resolve(undefined),
        rootBoxes: () => Promise.resolve([]),
      },
      boxes: createKnownBoxes(world.services.states),
      longWork: { run: <T>(_: unknown, work: () => Promise<T>) => work() },
      bodyBytes: createByteBudget('body_bytes', heldBodyBytes),
      inFlight: createInFlight(),
      throttle,
      secretLimits: {
        throttle,
        shared: createSharedFailures(world.services.pool, 1_000, Date.now),
        known: createKnownAddresses(Date.now),
        slot: createFailureSlot(key),
        perSecret: 100,
      },
      passwordLimits: createPasswordLimits({
        throttle,
        pool: world.services.pool,
        key,
        perAccount: 100,
        now: Date.now,
      }),
      deviceTokens: createDeviceTokens([key], Date.now),
      isTrustedProxy: () => surroundings.isTrustedProxy(),
      onAnswer: () => {
        surroundings.onAnswer();
      },
    };
    const start = async (listener: RequestListener): Promise<[Server, string]> => {
      const started = createServer(listener);
      return [started, `http://127.0.0.1:${String(await listen(started, '127.0.0.1', 0))}`];
    };
    const contexts = { home: context, all: [context], of: () => context, moved: () => undefined };
    [server, url] = await start(createRouter(contexts, routes));
    [failing, failingUrl] = await start(createRouter(contexts, failingRoutes, failingSubtrees));
  });
  after(async () => {
    for (const one of [server, failing]) {
      one.closeAllConnections();
      one.close();
    }
    await world.end();
  });
  beforeEach(() => {
    lines = [];
    surroundings = { onAnswer: nothing, isTrustedProxy: () => false };
  });

  const get = (path: string): Promise<RawReply> => sendRequest(url, { method: 'GET', target: `/boxes/shop${path}` });

  /** The body without the id of the request. */
  const bodyOf = ({ text }: RawReply): unknown => JSON.parse(text.replace(/"id":"[^"]+",/, ''));

  const outcome = (code: string, diagnostics: string) => ({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code, diagnostics }],
  });
  const bug = { error: 'server_error' };
  const outage = {
    error: 'temporarily_unavailable',
    error_description: 'The service cannot answer now; try again',
  };
  const bodies: Readonly<Record<string, object>> = {
    'bug/oauth': bug,
    'bug/plain': bug,
    'bug/resource': outcome('exception', 'Something went wrong on our side; the log knows more under the request id'),
    'outage/oauth': outage,
    'outage/plain': outage,
    'outage/resource': outcome('transient', outage.error_description),
  };
  for (const [path, body] of Object.entries(bodies)) {
    it(`${path}: ${path.startsWith('bug') ? '500 and a line with the whole story' : '503 with Retry-After and one without a stack'}`, async () => {
      const reply = await get(`/${path}`);
      const isBug = path.startsWith('bug');
      expect(reply.status).to.equal(isBug ? 500 : 503);
      expect(bodyOf(reply)).to.deep.equal(body);
      expect(reply.whole).not.to.match(/canary|SELECT|TypeError| at /);
      expect(reply.headers.get('retry-after')).to.equal(isBug ? undefined : '1');
      const [line = '', ...others] = lines;
      expect(others).to.deep.equal([]);
      const logged: unknown = JSON.parse(line);
      expect(logged).to.include({ msg: isBug ? 'bug' : 'outage', level: isBug ? 'error' : 'warn' });
      expect(logged).to.have.property('request_id', reply.headers.get('x-request-id'));
      expect(line).to.contain('canary');
      expect(line.includes('"stack"')).to.equal(isBug);
    });
  }

  const addresses: readonly (readonly [method: string, path: string])[] = [
    ...everyRoute.map(([method, path]) => [method, path] as const),
    ...everySubtree.flatMap(([path]) => ['GET', 'POST'].map((method) => [method, `${path}/orders`] as const)),
  ];
  for (const [method, path] of addresses) {
    it(`${method} ${path}: a bug after the body was read is logged with its request ID`, async () => {
      // E-04: node destroys a request that was read to its end; that is no sign of a caller that has hung up.
      const target = `/boxes/shop${FAILING}${path.replace(/:\w+/g, 'x')}`;
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: 'grant_type=client_credentials' };
      const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const;
      const reply = await sendRequest(failingUrl, { method, target, headers, ...body });
      expect(reply.status).to.equal(500);
      const bugs = lines.map((line): unknown => JSON.parse(line)).filter((line) => isBug(line));
      expect(bugs).to.have.lengthOf(1);
      expect(bugs[0]).to.include({ request_id: reply.headers.get('x-request-id') });
      expect(JSON.stringify(bugs[0])).to.contain('canary: cannot read');
    });
  }

  it('a bug that shows when half of the answer is sent ends the connection, and is logged', async () => {
    const ending = await get('/late').then(({ status }) => String(status), String);
    expect(ending).to.match(/the connection ended/);
    expect(lines.join('')).to.contain('"msg":"bug"');
  });

  const fails = (): never => {
    throw new RangeError('canary: it is broken');
  };
  const failures: Readonly<Record<string, { path: string; around?: Partial<typeof surroundings> }>> = {
    'an answer that cannot be sent': { path: '/unsendable' },
    'a log that cannot be written, at a bug': { path: '/bug/oauth', around: { onAnswer: fails } },
    'a log that cannot be written, at an outage': { path: '/outage/resource', around: { onAnswer: fails } },
    'a request that fails before it has an id': { path: '/bug/oauth', around: { isTrustedProxy: fails } },
  };
  for (const [what, { path, around }] of Object.entries(failures)) {
    it(`${what}: a bare 500, one line, and the process lives`, async () => {
      surroundings = { ...surroundings, ...around };
      const reply = await get(path);
      expect(reply.status).to.equal(500);
      expect(reply.text).to.equal('');
      expect(reply.whole).not.to.contain('canary');
      for (const [name, value] of pairs(everyAnswer))
        expect(reply.headers.get(name.toLowerCase()), name).to.equal(value);
      expect(reply.headers.get('cache-control')).to.equal('no-store');
      const [line = '', ...others] = lines;
      expect(others).to.deep.equal([]);
      expect(JSON.parse(line)).to.include({ msg: 'bug', request_id: reply.headers.get('x-request-id') });
      expect(line).to.contain('canary');
      surroundings = { onAnswer: nothing, isTrustedProxy: () => false };
      expect((await get('/outage/plain')).status).to.equal(503);
    });
  }

  it('a response that nothing can be written to: the connection ends, one line, and the process lives', async () => {
    const ending = await get('/broken').then(({ status }) => String(status), String);
    expect(ending).to.match(/the connection ended/);
    const [line = '', ...others] = lines;
    expect(others).to.deep.equal([]);
    expect(line).to.contain('"msg":"bug"').and.contain('it writes nothing').and.contain('cannot read');
    expect((await get('/outage/plain')).status).to.equal(503);
  });

  it('a caller that hangs up in the middle of its body is no bug', async () => {
    let begun = 0;
    server.on('request', () => (begun += 1));
    for (const nth of [1, 2, 3]) {
      const socket = openSocket(url);
      socket.write('POST /boxes/shop/body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
      await eventually('it is under way', () => begun === nth);
      socket.destroy();
    }
    await eventually('they are gone', async () => (await connections(server)) === 0);
    expect((await get('/outage/plain')).status).to.equal(503);
    expect(lines.join('')).not.to.contain('bug');
  });
});

function isBug(line: unknown): boolean {
  return typeof line === 'object' && line !== null && 'msg' in line && line.msg === 'bug';
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((_error, count) => {
      resolve(count);
    });
  });
}

function pairs(list: readonly string[]): readonly (readonly [string, string])[] {
  return list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? ''] as const] : []));
}
