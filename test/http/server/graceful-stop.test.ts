import { expect } from 'chai';
import { createServer, request as send, Agent } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer, request as sendInTls, Agent as TlsAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';
import { gracefulStop } from '../../../api/http/server/graceful-stop.ts';
import type { Stop } from '../../../api/http/server/graceful-stop.ts';
import { listen } from '../../../api/http/server/server.ts';
import { createAuthority } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { openSocket, readAnswer } from '../raw-http.ts';

const limits = { quiet: 60, drain: 2_000, linger: 0, grace: 20_000 };

describe('a graceful stop', () => {
  const certificate = createAuthority().sign('IP:127.0.0.1');
  let server: Server;
  let stop: Stop;
  let url = '';

  async function start(
    listener: RequestListener,
    create: (listener: RequestListener) => Server = createServer,
  ): Promise<void> {
    server = create(listener);
    stop = gracefulStop(server);
    const port = await listen(server, '127.0.0.1', 0);
    url = `${server instanceof TlsServer ? 'https' : 'http'}://127.0.0.1:${String(port)}`;
  }

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('answers what is under way, and takes no new connection', async () => {
    const waiting: (() => void)[] = [];
    await start((_request, response) => waiting.push(() => response.end('done')));
    const socket = openSocket(url);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('it is under way', () => waiting.length === 1);
    const stopped = stop(limits);
    await eventually('nobody listens any more', () => !server.listening);
    for (const answer of waiting) answer();
    expect(await readAnswer(socket)).to.include({ status: 200, text: 'done' });
    await stopped;
  });

  for (const [what, blocked] of [
    ['', 0],
    [', also when the process stands still at first', 5 * limits.quiet],
  ] as const) {
    it(`fails no request of callers that keep their connections busy, and tells each to go elsewhere${what}`, async () => {
      await start((_request, response) => void setTimeout(() => response.end('ok'), 3));
      const agent = new Agent({ keepAlive: true });
      const failures: string[] = [];
      let answers = 0;

      /** Asks until it is told to close the connection: then it would go to another replica. */
      async function caller(): Promise<void> {
        for (;;) {
          const answer = await ask(url, agent).catch((error: unknown) => String(error));
          if (answer !== 'keep-alive' && answer !== 'close') failures.push(answer);
          if (answer !== 'keep-alive') return;
          answers += 1;
        }
      }

      const callers = Array.from({ length: 20 }, caller);
      await eventually('all are busy', () => answers > 60);
      const stopped = stop({ ...limits, drain: 60_000 });
      const end = performance.now() + blocked;
      while (performance.now() < end);
      await Promise.all([stopped, ...callers]);
      agent.destroy();
      expect(failures).to.deep.equal([]);
    });
  }

  for (const [what, create] of [
    ['', (listener: RequestListener) => createServer(listener)],
    [' in TLS', (listener: RequestListener) => createTlsServer(certificate, listener)],
  ] as const) {
    it(`answers a request on a connection${what} that was idle when the server stopped to listen, and then closes it`, async () => {
      await start((_request, response) => response.end('ok'), create);
      const agent = keptConnection(url);
      expect(await ask(url, agent)).to.equal('keep-alive');
      const stopped = stop({ ...limits, linger: 3_600_000 });
      await eventually('nobody listens any more', () => !server.listening);
      expect(await ask(url, agent)).to.equal('close');
      await stopped;
      agent.destroy();
    });

    it(`fails no request of many callers${what} that pause, at whatever moment it stops`, async () => {
      await start((_request, response) => response.end('ok'), create);
      const answers: string[] = [];
      const answered = new Set<number>();

      /** Asks on one connection, with pauses, until it is told to close it. */
      async function caller(nth: number): Promise<void> {
        const agent = keptConnection(url);
        for (let said = 'keep-alive'; said === 'keep-alive';) {
          said = await ask(url, agent).catch((error: unknown) => String(error));
          answers.push(said);
          answered.add(nth);
          await sleep(nth);
        }
        agent.destroy();
      }

      const callers = Array.from({ length: 100 }, (_, nth) => caller(nth));
      await eventually('all have been answered', () => answered.size === callers.length);
      const stopped = stop({ ...limits, drain: 0, linger: 3_600_000 });
      await Promise.all([stopped, ...callers]);
      expect(new Set(answers)).to.deep.equal(new Set(['keep-alive', 'close']));
    });
  }

  for (const keepAliveTimeout of [5_000, 3_600_000]) {
    it(`closes connections that are still idle when the time for them has passed, of ${String(keepAliveTimeout)} ms otherwise`, async () => {
      await start(
        (_request, response) => response.end('ok'),
        (listener) => createServer({ keepAliveTimeout }, listener),
      );
      const agent = keptConnection(url);
      expect(await ask(url, agent)).to.equal('keep-alive');
      await stop({ ...limits, linger: 10, grace: 3_600_000 });
      agent.destroy();
    });
  }

  it('does not wait for callers that never go: those that still come are cut after a while', async () => {
    await start((_request, response) => response.end('ok'));
    let answers = 0;
    const caller = setInterval(() => {
      ask(url, new Agent()).then(
        () => (answers += 1),
        () => undefined,
      );
    }, 5);
    const connected = openSocket(url);
    await eventually('somebody comes', () => answers > 0);
    const before = answers;
    await stop({ ...limits, drain: 1_000 });
    clearInterval(caller);
    connected.destroy();
    expect(server.listening).to.equal(false);
    expect(answers, 'it went on serving at first').to.be.greaterThan(before);
  });

  it('cuts what does not end within the grace', async () => {
    let begun = 0;
    await start(() => (begun += 1));
    const refused = ask(url, new Agent()).catch((error: unknown) => String(error));
    await eventually('it is under way', () => begun === 1);
    await stop({ quiet: 10, drain: 20, linger: 0, grace: 50 });
    expect(await refused).to.contain('socket hang up');
  });

  it('does not wait for a connection that has never said a word', async () => {
    await start((_request, response) => response.end('ok'));
    const silent = openSocket(url);
    let connections = 0;
    server.on('connection', () => (connections += 1));
    await eventually('it is connected', () => connections === 1);
    await stop({ ...limits, grace: 3_600_000 });
    silent.destroy();
  });

  it('is at once where nobody is connected', async () => {
    await start((_request, response) => response.end('ok'));
    await stop({ quiet: 3_600_000, drain: 3_600_000, linger: 3_600_000, grace: 3_600_000 });
    expect(server.listening).to.equal(false);
  });
});

/** An agent with one connection, which it keeps. */
function keptConnection(url: string): Agent {
  const options = { keepAlive: true, maxSockets: 1 };
  return url.startsWith('https:') ? new TlsAgent({ ...options, rejectUnauthorized: false }) : new Agent(options);
}

/** Sends a request and gives what its answer says of the connection. */
function ask(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sendTo = url.startsWith('https:') ? sendInTls : send;
    const request = sendTo(url, { agent, method: 'POST' }, (response) => {
      response.resume().once('end', () => {
        resolve(response.headers.connection ?? '');
      });
    });
    request.once('error', reject);
    request.end('x');
  });
}
