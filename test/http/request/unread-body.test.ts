import { expect } from 'chai';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { eventually } from '../../support/eventually.ts';
import { startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';
import { openSocket, readAnswer } from '../raw-http.ts';
import type { RawReply } from '../raw-http.ts';

const megabyte = 1_048_576;
const linked = (id: string) => [{ resourceType: 'Client', id }];

describe('a body that nobody has to read', () => {
  let api: BoxApi;
  let tokens: Readonly<Record<string, string>>;
  let open: Socket[] = [];

  before(async () => {
    api = await startBoxApi();
    const names = ['bare', 'writer', 'by-body', 'withdrawn'];
    await api.declare('default', [
      ...names.map((id) => ({ kind: 'Client', id, grant_types: ['client_credentials'], secret: 'a-secret' }) as const),
      { kind: 'AccessPolicy', id: 'writer', engine: 'allow', link: linked('writer') },
      {
        kind: 'AccessPolicy',
        id: 'by-body',
        engine: 'matcho',
        link: linked('by-body'),
        matcho: { body: { name: 'good' } },
      },
    ]);
    tokens = Object.fromEntries(
      await Promise.all(
        names.map(async (id) => [id, stringIn(await api.requestToken(id, 'a-secret'), 'access_token')] as const),
      ),
    );
  });
  after(() => api.stop());
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open = [];
  });

  /** Begins a `POST /Group` and sends `sent` of its `length` bytes; the rest never comes. */
  function begin(token: string | undefined, sent: string | Buffer, length = megabyte, more = ''): Socket {
    const socket = openSocket(api.url);
    open.push(socket);
    const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
    socket.write(
      `POST /boxes/default/Group HTTP/1.1\r\nHost: x\r\n${authorization}${more}Content-Type: application/json\r\n` +
        `Content-Length: ${String(length)}\r\n\r\n`,
    );
    socket.write(sent);
    return socket;
  }

  const half = (token: string | undefined): Promise<RawReply> => readAnswer(begin(token, '{"name": "'));

  it('R-05 answers 401 before the body has arrived when there is no token', async () => {
    expect((await half(undefined)).status).to.equal(401);
  });

  it('R-05 answers 401 before the body has arrived when the token is not valid', async () => {
    expect((await half('bgt_never-given-out')).status).to.equal(401);
  });

  it('R-05 answers 403 before the body has arrived when no policy concerns the client', async () => {
    expect((await half(tokens['bare'])).status).to.equal(403);
  });

  it('R-05 answers a body beyond every limit with 401 and closes the connection', async () => {
    const reply = await readAnswer(begin(undefined, '{', 50 * megabyte));
    expect(reply).to.include({ status: 401, closed: true });
  });

  for (const [what, head, status] of [
    ['a path that nothing is at', 'POST /boxes/default/nothing', 404],
    ['a method that a path does not take', 'PUT /boxes/default/auth/token', 405],
    ['metadata', 'GET /boxes/default/.well-known/jwks.json', 200],
    ['a page', 'GET /boxes/default/auth/signin', 200],
    ['a resource', 'POST /boxes/default/Group', 401],
    ['a check', 'GET /boxes/default/auth/check/orders', 401],
    ['an unknown box', 'POST /boxes/unknown/auth/token', 404],
    ['a target that is no path', 'GET elsewhere', 400],
  ] as const) {
    it(`closes the connection after an answer without the announced body: ${what}`, async () => {
      // E-09: otherwise the next request on the connection, perhaps that of another person, is read as the body.
      for (const body of ['Content-Length: 77', 'Transfer-Encoding: chunked']) {
        const socket = openSocket(api.url);
        open.push(socket);
        const ended = once(socket, 'end');
        socket.write(`${head} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${body}\r\n\r\n`);
        const reply = await readAnswer(socket);
        expect([reply.status, reply.headers.get('connection')], body).to.deep.equal([status, 'close']);
        await ended;
      }
    });
  }

  it('sends the whole answer to a caller that is still sending its body, then closes the connection', async () => {
    // E-09: a connection that is closed on unread bytes is reset, and the answer is lost.
    const socket = begin(undefined, 'x'.repeat(20_000), 2 * megabyte);
    const ended = once(socket, 'end');
    const reply = await readAnswer(socket);
    expect(reply).to.include({ status: 401, closed: true });
    socket.write('x'.repeat(2 * megabyte - 20_000));
    await ended;
  });

  it('R-05 reads the body when a policy that looks at it may grant', async () => {
    for (const [name, status] of [
      ['good', 201],
      ['bad', 403],
    ] as const) {
      const body = JSON.stringify({ name });
      const socket = begin(tokens['by-body'], body.slice(0, 5), body.length);
      socket.write(body.slice(5));
      expect((await readAnswer(socket)).status, name).to.equal(status);
    }
  });

  describe('of a client that waits for 100 Continue', () => {
    const expecting = 'Expect: 100-continue\r\n';
    const firstOf = async (socket: Socket): Promise<string> => {
      const chunks: unknown[] = await once(socket, 'data');
      return String(chunks[0]);
    };

    for (const [who, token, status] of [
      ['no token', () => undefined, 401],
      ['a token that is not valid', () => 'bgt_never-given-out', 401],
      ['a token that no policy concerns', () => tokens['bare'], 403],
    ] as const) {
      it(`R-05 is not asked for with ${who}: ${String(status)}, and the connection is closed`, async () => {
        const socket = begin(token(), '', 20, expecting);
        const [first, reply] = await Promise.all([firstOf(socket), readAnswer(socket)]);
        expect(first).to.match(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
        expect(reply).to.include({ status, closed: true });
      });
    }

    it('R-05 is asked for when it is to be read, and the connection goes on', async () => {
      const body = '{"name": "good"}';
      const socket = begin(tokens['by-body'], '', body.length, expecting);
      expect(await firstOf(socket)).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(body);
      // A group of that name may be there already.
      expect([201, 409]).to.include((await readAnswer(socket)).status);
      socket.removeAllListeners('data');
      socket.write('GET /boxes/default/.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await readAnswer(socket)).status).to.equal(200);
    });
  });

  it('R-05 decides again when the body was late: a policy that was withdrawn meanwhile does not grant', async () => {
    await api.declare('default', [
      { kind: 'AccessPolicy', id: 'withdrawn', engine: 'allow', link: linked('withdrawn') },
    ]);
    const body = '{"name": "late"}';
    const socket = begin(tokens['withdrawn'], body.slice(0, 5), body.length);
    const answer = readAnswer(socket);
    // Refused without the policy, so the first decision has been made once the server waits for the body.
    await eventually('the server has read what there is', () => socket.bytesWritten > 0 && socket.writableLength === 0);
    await api.call('GET', '/Group');
    await api.remove('default', [{ kind: 'AccessPolicy', id: 'withdrawn' }]);
    socket.write(body.slice(5));
    expect((await answer).status).to.equal(403);
    const names = (await api.call('GET', '/Group?_result=array')).text;
    expect(names).not.to.contain('late');
  });

  it('R-05 keeps no body of 600 strangers in memory', async () => {
    const body = Buffer.alloc(megabyte - 1, ' ');
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 5);
    const statuses = new Set<number>();
    for (let begun = 0; begun < 600; begun += 40) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => readAnswer(begin(undefined, body))));
      for (const { status } of answers) statuses.add(status);
    }
    clearInterval(timer);
    expect(statuses).to.deep.equal(new Set([401]));
    expect(most).to.be.lessThan(200 * megabyte);
  });
});
