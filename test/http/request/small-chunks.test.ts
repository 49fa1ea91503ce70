import { expect } from 'chai';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readBody } from '../../../api/http/request/read-body.ts';
import { eventually } from '../../support/eventually.ts';

const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
const limit = 16_384;

/** Returns a text in HTTP chunks of so many bytes (RFC 9112 §7.1). */
function chunked(text: string, size: number): string {
  const parts = text.match(new RegExp(`.{1,${String(size)}}`, 'gs')) ?? [];
  return parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
}

describe('a body in small chunks', () => {
  let server: Server;
  let received: (Buffer | Error)[] = [];
  let bytes = 0;
  const sockets: Socket[] = [];

  before(async () => {
    server = createServer((request: IncomingMessage, response) => {
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      readBody(request, limit).then(
        (body) => response.end(received.push(body)),
        (error: unknown) => response.end(received.push(error instanceof Error ? error : new Error('unknown'))),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    received = [];
    bytes = 0;
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => server.close());

  function send(text: string): void {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server does not listen');
    const socket = connect(address.port, '127.0.0.1', () => socket.write(text));
    socket.on('error', () => undefined);
    sockets.push(socket);
  }

  const text = Array.from({ length: limit }, (_, at) => String.fromCharCode(97 + ((at * at) % 23))).join('');

  for (const [size, length] of [
    [1, 1],
    [1, 2],
    [1, 1000],
    [1, limit],
    [7, limit],
    [1024, limit],
    [limit - 1, limit],
    [limit, limit],
  ] as const) {
    it(`of ${String(length)} bytes, ${String(size)} in each, is read as it was sent`, async () => {
      const sent = text.slice(0, length);
      send(`${head}${chunked(sent, size)}0\r\n\r\n`);
      await eventually('the body is read', () => received.length === 1);
      expect(String(received[0])).to.equal(sent);
    });
  }

  it('beyond its limit is refused', async () => {
    send(`${head}${chunked(`${text}x`, 1)}0\r\n\r\n`);
    await eventually('the body is read', () => received.length === 1);
    expect(String(received[0])).to.contain(`The body is larger than ${String(limit)} bytes`);
  });

  it('takes little more memory than its bytes while it is not complete', async () => {
    setFlagsFromString('--expose-gc');
    const used = (): number => {
      runInNewContext('gc()');
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = used();
    const requests = 20;
    for (let nth = 0; nth < requests; nth += 1) send(head + chunked(text.slice(1), 1));
    await eventually('all bytes have arrived', () => bytes === requests * (limit - 1));
    expect((used() - before) / (requests * limit)).to.be.lessThan(20);
  });
});
