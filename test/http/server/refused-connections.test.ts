import { expect } from 'chai';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gracefulStop } from '../../../api/http/server/graceful-stop.ts';
import { createHttpServer, defaultServerLimits, listen } from '../../../api/http/server/server.ts';
import { eventually } from '../../support/eventually.ts';

/** More than a socket takes in before somebody reads it. */
const much = 'x'.repeat(300_000);

const refused = [
  ['CONNECT', 'CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n', '405'],
  ['what is no HTTP', 'GARBAGE\r\n\r\n', '400'],
] as const;

describe('a connection that is refused', () => {
  let server: Server;
  let port: number;
  const callers: Socket[] = [];

  beforeEach(async () => {
    server = createHttpServer((_request, response) => response.end('ok'), defaultServerLimits);
    port = await listen(server, '127.0.0.1', 0);
  });
  afterEach(() => {
    for (const caller of callers.splice(0)) caller.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** Sends bytes on a connection that this side does not close. */
  function call(bytes: string): { readonly caller: Socket; readonly answer: () => string } {
    const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    callers.push(caller);
    let text = '';
    caller.on('error', () => undefined);
    caller.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    caller.write(bytes);
    return { caller, answer: () => text };
  }

  function open(): Promise<number> {
    return new Promise((resolve, reject) => {
      server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  for (const [what, bytes, status] of refused) {
    it(`ends although the caller does not end it: ${what}`, async () => {
      const { answer } = call(bytes);
      await eventually('it is answered', () => answer().startsWith(`HTTP/1.1 ${status} `));
      await eventually('the server has no connection any more', async () => (await open()) === 0);
    });

    it(`ends although more came on it than anybody reads: ${what}`, async () => {
      const { caller } = call(bytes + much);
      caller.resetAndDestroy();
      call(bytes + much);
      await eventually('the server has no connection any more', async () => (await open()) === 0);
    });
  }

  it('holds up no graceful stop', async () => {
    const stop = gracefulStop(server);
    const { answer } = call(`CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n${much}`);
    await eventually('it is answered', () => answer() !== '' || callers.some(({ destroyed }) => destroyed));
    await stop({ quiet: 20, drain: 100, linger: 0, grace: 100 });
    expect(await open()).to.equal(0);
  });
});
