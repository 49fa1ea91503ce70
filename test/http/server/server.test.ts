import { expect } from 'chai';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BrokenRequest } from '../../../api/http/server/broken-request.ts';
import { defaultServerLimits, createHttpServer, listen } from '../../../api/http/server/server.ts';
import { eventually } from '../../support/eventually.ts';
import { expectClean } from '../hygiene.ts';
import { openSocket, readAnswer, sendRequest } from '../raw-http.ts';

/** The limits of the tests: each waits for one of them to be met, none for how long that takes. */
const short = { headers: 150, request: 300, idle: 300, keepAlive: 150, connections: 50, interval: 20 };

const head = 'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n';

describe('the HTTP server', () => {
  let server: Server;
  let url = '';
  let open: Socket[] = [];
  let broken: BrokenRequest[] = [];

  async function start(limits: Partial<typeof short>, listener = answerWhenRead): Promise<void> {
    server = createHttpServer(listener, { ...defaultServerLimits, ...limits }, (one) => broken.push(one));
    url = `http://127.0.0.1:${String(await listen(server, '127.0.0.1', 0))}`;
  }

  afterEach(() => {
    for (const socket of open) socket.destroy();
    open = [];
    broken = [];
    server.closeAllConnections();
    server.close();
  });

  /** Opens a connection and goes on sending a text, letter by letter, for as long as it is there. */
  function drip(first: string, rest: string): Socket {
    const socket = openSocket(url);
    open.push(socket);
    socket.write(first);
    let at = 0;
    const timer = setInterval(() => {
      if (socket.writable) socket.write(rest[at++ % rest.length] ?? '');
    }, 10);
    socket.once('close', () => {
      clearInterval(timer);
    });
    return socket;
  }

  describe('X-11 a slow caller is cut off', () => {
    it('headers that come letter by letter: 408', async () => {
      await start({ headers: short.headers, interval: short.interval });
      const reply = await readAnswer(drip('GET / HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n'));
      expectClean(reply, 'slow headers');
      expect(reply).to.include({ status: 408, closed: true });
      expect(broken.map(({ status, remoteAddr }) => [status, remoteAddr])).to.deep.equal([[408, '127.0.0.1']]);
    });

    it('a body that comes letter by letter: 408', async () => {
      await start({ headers: short.headers, request: short.request, interval: short.interval });
      expect(await readAnswer(drip(head, 'x'))).to.include({ status: 408, closed: true });
    });

    it('chunks that come letter by letter: 408', async () => {
      await start({ headers: short.headers, request: short.request, interval: short.interval });
      const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      expect(await readAnswer(drip(chunked, '1\r\nx\r\n'))).to.include({ status: 408, closed: true });
    });

    it('an answer that nobody reads: the connection is closed', async () => {
      let gone = false;
      await start({ idle: short.idle }, (_request, response) => {
        response.once('close', () => (gone = true));
        response.end(Buffer.alloc(64_000_000));
      });
      const socket = openSocket(url);
      open.push(socket);
      socket.pause();
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually('the server gives up', () => gone);
    });

    it('connections that say nothing: closed, and another caller is answered meanwhile', async () => {
      // Long enough for a caller that speaks.
      await start({ headers: 1_000, interval: short.interval });
      const silent = Array.from({ length: 40 }, () => openSocket(url));
      open.push(...silent);
      let closed = 0;
      for (const socket of silent) {
        socket.resume();
        socket.once('close', () => (closed += 1));
      }
      expect(await sendRequest(url, { method: 'GET', target: '/' })).to.include({ status: 200 });
      await eventually('all of them are closed', () => closed === silent.length);
    });

    it('a connection that waits for its next request: closed', async () => {
      await start({ keepAlive: short.keepAlive });
      const socket = openSocket(url);
      open.push(socket);
      let closed = false;
      socket.once('close', () => (closed = true));
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(await readAnswer(socket)).to.include({ status: 200, closed: false });
      await eventually('it is closed', () => closed);
    });

    it('more connections than there may be: closed at once', async () => {
      await start({ connections: 5 });
      const many = Array.from({ length: 20 }, () => openSocket(url));
      open.push(...many);
      let closed = 0;
      for (const socket of many) {
        socket.resume();
        socket.once('close', () => (closed += 1));
      }
      await eventually('those beyond the limit are closed', () => closed === 15);
    });

    it('ships with limits of seconds', () => {
      expect(defaultServerLimits).to.include({ headers: 10_000, request: 15_000, interval: 2_000 });
      expect(defaultServerLimits).to.include({ idle: 30_000, connections: 20_000 });
    });
  });

  it('says in one sentence that its port is taken', async () => {
    await start({});
    const port = Number(new URL(url).port);
    const second = createHttpServer(answerWhenRead, defaultServerLimits);
    const refused = await listen(second, '127.0.0.1', port).then(String, String);
    expect(refused).to.equal(`Error: Port ${String(port)} of 127.0.0.1 is in use by another program`);
  });

  it('says in one sentence that it may not listen at an address', async () => {
    await start({});
    const second = createHttpServer(answerWhenRead, defaultServerLimits);
    const refused = await listen(second, '203.0.113.7', 0).then(String, String);
    expect(refused).to.match(/^Error: Port 0 of 203\.0\.113\.7 cannot be listened on \(listen EADDRNOTAVAIL/);
  });
});

function answerWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.on('error', () => undefined);
  request.resume().once('end', () => response.end('ok'));
}
