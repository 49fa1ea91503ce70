import { EventEmitter, once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { setRequestContext } from '../../../api/http/request/request-context.ts';
import { send } from '../../../api/http/server/send.ts';
import { portOf } from '../../../program/environment.ts';

/** More than the sockets of both sides hold: nobody who does not read gets all of it. */
const pieces = Array.from({ length: 300 }, (_, nth) => Buffer.from(`${String(nth)} é ${'x'.repeat(100_000)}\n`));
const whole = Buffer.concat(pieces);

describe('an answer in pieces', () => {
  let server: Server;
  const late = new EventEmitter();

  before(async () => {
    server = createServer((_request, response) => {
      setRequestContext(response, {
        requestId: 'pieces',
        started: 0,
        remoteAddr: '192.0.2.1',
        network: '192.0.2.1',
        box: 'default',
        moves: 0,
        path: '/pieces',
        route: '/pieces',
        target: '/pieces',
        shape: 'resource',
        client: undefined,
        policy: undefined,
        allowedOrigin: undefined,
        error: undefined,
        refusal: undefined,
        page: undefined,
        advice: undefined,
      });
      if (response.req.url === '/late') {
        response.once('close', () => {
          try {
            send(response, { status: 200, body: pieces }, () => undefined);
            late.emit('answered');
          } catch (error) {
            late.emit('error', error);
          }
        });
      } else send(response, { status: 200, body: pieces }, () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function ask(method: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request({ port: portOf(server), host: '127.0.0.1', method }, resolve)
        .on('error', reject)
        .end();
    });
  }

  it('R-06: is whole, with its length in bytes', async () => {
    const answer = await ask('GET');
    expect(answer.headers['content-length']).to.equal(String(whole.length));
    expect(await text(answer)).to.equal(whole.toString());
  });

  it('R-06: has no body where the request is HEAD, and the same length', async () => {
    const answer = await ask('HEAD');
    expect(answer.headers['content-length']).to.equal(String(whole.length));
    expect(await text(answer)).to.equal('');
  });

  it('is no fault where the caller has hung up before it', async () => {
    const answered = once(late, 'answered');
    const asked = request({ port: portOf(server), host: '127.0.0.1', path: '/late' });
    asked.on('error', () => undefined).end();
    await once(server, 'request');
    asked.destroy();
    await answered;
  });
});
