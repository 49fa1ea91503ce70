import { expect } from 'chai';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ManagementError } from '../../api/client/management-error.ts';
import { createManagement, type ApplyCall, type Management } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';
import { portOf } from '../../program/environment.ts';
import { ownPort } from '../support/own-port.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const signal = new AbortController().signal;
const head = { cluster: 'c', epoch: 1, complete: true };
const applied = '{"box":"shop","config_version":7,"database":"home"}\n';
const done = '{"kind":"Client","id":"a","result":"created"}\n';

/** The management port as a peer on the wire, which answers as a case wants it to. */
describe('createManagement', () => {
  let server: Server;
  let management: Management;
  /** Gives up soon. */
  let hasty: Management;
  let answer: Answer;
  const requests: { method: string; url: string; authorization: string; body: string }[] = [];

  before(async () => {
    server = createServer((request, response) => void receive(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = portOf(server);
    const peer = { url: `http://127.0.0.1:${String(port)}`, key: new Secret('the-key') };
    management = createManagement(peer);
    hasty = createManagement({ ...peer, idleTimeout: 300 });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    try {
      for await (const piece of request) body += String(piece);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, authorization: headers.authorization ?? '', body });
    answer(request, response, body);
  }

  const text =
    (body: string, status = 200): Answer =>
    (_request, response) =>
      response.writeHead(status).end(body);
  const owner = { name: 'shop/a', uid: '1' };
  const call = (fields: Partial<ApplyCall> = {}): ApplyCall => ({ box: 'shop', head, lines: [], ...fields });

  async function failure(work: Promise<unknown>): Promise<{ code: string; message: string }> {
    try {
      await work;
    } catch (error) {
      if (error instanceof ManagementError) return { code: error.code, message: error.message };
      throw error;
    }
    throw new Error('it did not fail');
  }

  it('says why the API is not ready, as its probe does', async () => {
    // E-29: a status names the true reason.
    answer = (_request, response) =>
      response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' }).end('Postgres is in recovery');
    expect(await failure(management.ready(signal))).to.deep.equal({
      code: 'unavailable',
      message: 'Postgres is in recovery',
    });
  });

  it('connects again where one replica refuses the connection: the Service leads to those that only begin, too', async () => {
    // E-29: the Service publishes addresses that are not ready.
    const late = createServer((_request, response) => response.end('ok'));
    const port = await ownPort();
    const refused = (): void => void late.listen(port, '127.0.0.1');
    subscribe('http.client.request.error', refused);
    try {
      await createManagement({ url: `http://127.0.0.1:${String(port)}`, key: new Secret('the-key') }).ready(signal);
    } finally {
      unsubscribe('http.client.request.error', refused);
      late.close();
    }
  });

  it('sends the head and each line as one line of JSON, with the key', async () => {
    answer = text(done + applied);
    const lines = [{ kind: 'Client', id: 'a', owner, delete: true }] as const;
    const results = await management.apply(call({ lines }), signal);
    expect(results).to.deep.equal([{ kind: 'Client', id: 'a', result: 'created' }]);
    expect(requests.at(-1)).to.deep.equal({
      method: 'POST',
      url: '/boxes/shop/apply',
      authorization: 'Bearer the-key',
      body: `${JSON.stringify(head)}\n${JSON.stringify(lines[0])}\n`,
    });
  });

  it('takes lines one by one as they are sent, however many', async () => {
    answer = text(applied);
    const many = 20_000;
    function* lines() {
      for (let nth = 0; nth < many; nth += 1) yield { kind: 'Client', id: String(nth), owner, delete: true } as const;
    }
    await management.apply(call({ lines: lines() }), signal);
    expect(requests.at(-1)?.body.split('\n')).to.have.length(many + 2);
  });

  it('tells how far the call is', async () => {
    answer = (_request, response) => {
      response.write('{"progress":{"done":1,"of":2}}\n{"progress":');
      response.end(`{"done":2,"of":2}}\n${applied}`);
    };
    const progress: number[] = [];
    await management.apply(call({ onProgress: ({ done: count }) => progress.push(count) }), signal);
    expect(progress).to.deep.equal([1, 2]);
  });

  it('keeps all that a result says', async () => {
    const result = {
      kind: 'AccessPolicy',
      id: 'p',
      result: 'conflict',
      detail: 'owned by a/b',
      faults: [{ path: 'link', message: 'must be' }],
      owner: { name: 'a/b', uid: 'u' },
    };
    answer = text(`${JSON.stringify({ ...result, unknown: 1 })}\n${applied}`);
    expect(await management.apply(call(), signal)).to.deep.equal([{ ...result, unknown: 1 }]);
  });

  it('claims an epoch and lists boxes', async () => {
    answer = text('{"epoch":4}');
    expect(await management.claimEpoch('c', signal)).to.equal(4);
    expect(requests.at(-1)).to.include({ method: 'POST', url: '/epoch', body: '{"cluster":"c"}\n' });
    await management.claimEpoch('c', signal, 'older');
    expect(requests.at(-1)?.body).to.equal('{"cluster":"c","adopts":"older"}\n');
    answer = text('{"boxes":[{"box":"shop","resources":12}]}');
    expect(await management.declaredBoxes('a&b', signal)).to.deep.equal([{ box: 'shop', resources: 12 }]);
    expect(requests.at(-1)?.url).to.equal('/boxes?cluster=a%26b');
  });

  it('asks how much the clients of a box are used', async () => {
    const often = { id: 'a', live_sessions: 3, last_token_at: '2026-01-01T00:00:00Z' };
    const clients = [often, { id: 'b', live_sessions: 0, previous_secret_last_used: '2026-01-01T00:00:00Z' }];
    const groups = [{ name: 'staff', members: 7 }];
    const policies = [{ id: 'readers', last_used_at: '2026-01-01T00:00:00Z' }];
    answer = text(JSON.stringify({ clients, users: 2, groups, policies }));
    expect(await management.usage('shop', 'a&b', '', signal)).to.deep.equal({ clients, users: 2, groups, policies });
    expect(requests.at(-1)).to.include({ method: 'GET', url: '/boxes/shop/usage?cluster=a%26b' });
    answer = text(JSON.stringify({ clients, users: 2, groups: [], policies: [], next: 'b' }));
    expect(await management.usage('shop', 'c', 'a', signal)).to.deep.equal({
      clients,
      users: 2,
      groups: [],
      policies: [],
      next: 'b',
    });
    expect(requests.at(-1)?.url).to.equal('/boxes/shop/usage?cluster=c&after=a');
  });

  it('asks when the clients of a box were last used', async () => {
    const clients = [{ id: 'a', last_token_at: '2026-01-01T00:00:00Z' }, { id: 'b' }];
    answer = text(JSON.stringify({ clients }));
    expect(await management.lastUses('shop', 'a&b', signal)).to.deep.equal({ clients });
    expect(requests.at(-1)).to.include({ method: 'GET', url: '/boxes/shop/last-use?cluster=a%26b' });
    for (const nonsense of ['[]', '{}', '{"clients":[{}]}', '{"clients":[1]}']) {
      answer = text(nonsense);
      expect(await failure(management.lastUses('shop', 'c', signal)), nonsense).to.include({ code: 'refused' });
    }
  });

  for (const nonsense of [
    '{}',
    '[]',
    '{"clients":[{"id":"a"}],"users":0}',
    '{"clients":[],"users":"none"}',
    '{"clients":[],"users":0}',
    '{"clients":[],"users":0,"groups":[],"policies":[],"next":1}',
    '{"clients":[],"users":0,"groups":{}}',
    '{"clients":[],"users":0,"groups":[{"name":"staff"}]}',
  ]) {
    it(`refuses a usage such as ${nonsense}`, async () => {
      answer = text(nonsense);
      expect(await failure(management.usage('shop', 'c', '', signal))).to.include({ code: 'refused' });
    });
  }

  it('tells to which namespace a locked box is bound', async () => {
    answer = text('{"error":"the box is bound to namespace u1","code":"locked","bound":"u1"}\n');
    const refused = await management.apply(call(), signal).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ManagementError).that.includes({ code: 'locked', bound: 'u1' });
  });

  const failures: [title: string, answer: Answer, code: string, message: RegExp][] = [
    ['a later epoch', text(`${done}{"error":"epoch 1 is over","code":"fenced"}\n`), 'fenced', /^epoch 1 is over$/],
    ['a later epoch, at once', text('{"error":"epoch 1 is over","code":"fenced"}', 409), 'fenced', /^epoch 1 is over$/],
    ['Postgres away', text('{"error":"away","code":"unavailable"}\n'), 'unavailable', /^away$/],
    ['Postgres away, at once', text('{"error":"away","code":"unavailable"}', 503), 'unavailable', /^away$/],
    ['a gateway that finds nobody', text('<html>', 502), 'unavailable', /^status 502$/],
    ['a fault of the API', text('{"error":"the call failed","code":"bug"}\n'), 'refused', /^the call failed$/],
    [
      'a wrong key',
      text('{"error":"a key is needed","code":"refused"}', 401),
      'refused',
      /management key is not accepted/,
    ],
    ['an answer that ends too early', text(done), 'unavailable', /broke off/],
    ['an empty answer', text(''), 'unavailable', /broke off/],
    ['a line that is no JSON', text(`{"kind\n${applied}`), 'refused', /line of 6 characters that is not understood/],
    [
      'a verdict nobody knows',
      text(`{"kind":"Client","id":"a","result":"x"}\n${applied}`),
      'refused',
      /not understood/,
    ],
    ['a line without end', text('x'.repeat(3_000_000)), 'unavailable', /longer than/],
    [
      'an answer cut in the middle',
      (_request, response) => {
        response.write(done);
        setImmediate(() => response.destroy());
      },
      'unavailable',
      /cannot be reached/,
    ],
  ];
  for (const [title, given, code, message] of failures) {
    it(`sorts ${title} as ${code}`, async () => {
      answer = given;
      const found = await failure(management.apply(call(), signal));
      expect(found.code).to.equal(code);
      expect(found.message).to.match(message);
    });
  }

  const endless: Readonly<Record<string, Answer>> = {
    'no answer at all': () => undefined,
    'an answer that stands still': (_request, response) => void response.write(done),
  };
  for (const [title, given] of Object.entries(endless)) {
    it(`sorts ${title} as unavailable`, async () => {
      answer = given;
      const found = await failure(hasty.apply(call(), signal));
      expect(found.code).to.equal('unavailable');
      expect(found.message).to.match(/no byte for 0.3 s|aborted/);
    });
  }

  it('sorts an API that is not there as unavailable', async () => {
    const closed = createManagement({ url: 'http://127.0.0.1:1', key: new Secret('k') });
    expect(await failure(closed.claimEpoch('c', signal))).to.include({ code: 'unavailable' });
  });

  it('ends with the reason of the signal when it is told to stop', async () => {
    const stopping = new AbortController();
    answer = () => {
      stopping.abort(new Error('enough'));
    };
    const error = await management.apply(call(), stopping.signal).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error).with.property('message', 'enough');
  });

  it('shows neither the key nor a secret in an error', async () => {
    answer = text('{"secret":"canary"}\n');
    const { message } = await failure(management.apply(call(), signal));
    expect(message).to.not.match(/canary|the-key/);
  });
});
