import { expect } from 'chai';
import type { Socket } from 'node:net';
import { heldBodyBytes } from '../../../api/http/request/read-body.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { openSocket, readAnswer } from '../raw-http.ts';
import type { RawReply } from '../raw-http.ts';

const megabyte = 1_048_576;
const attacker = '203.0.113.7';
const victim = '198.51.100.7';

describe('bytes of bodies that are held', () => {
  let api: TestApi;
  let open: Socket[] = [];

  before(async () => {
    api = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1' } });
    await api.declare('default', [
      { kind: 'Client', id: 'orders', grant_types: ['client_credentials'], secret: 'a-secret' },
      // It looks at the body, so that the bodies of strangers are read.
      { kind: 'AccessPolicy', id: 'by-body', engine: 'matcho', subjects: 'anyone', matcho: { body: { name: 'good' } } },
    ]);
  });
  after(() => api.stop());
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open = [];
  });

  /** Sends a `POST` of which `length` bytes are announced and `body` is all that comes. */
  function post(from: string, path: string, type: string, body: string | Buffer, length = body.length): Socket {
    const socket = openSocket(api.url);
    open.push(socket);
    socket.write(
      `POST /boxes/default${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: ${type}\r\n` +
        `Content-Length: ${String(length)}\r\n\r\n`,
    );
    socket.write(body);
    return socket;
  }

  const group = (from: string, name: string): Promise<RawReply> =>
    readAnswer(post(from, '/Group', 'application/json', JSON.stringify({ name, description: 'x' })));
  const form = 'grant_type=client_credentials&client_id=orders&client_secret=a-secret';
  const token = (from: string): Promise<RawReply> =>
    readAnswer(post(from, '/auth/token', 'application/x-www-form-urlencoded', form));

  /** Sends nearly all of as many bodies as the budget would hold twice over, until one is refused. */
  async function floodFrom(address: string): Promise<readonly RawReply[]> {
    const body = Buffer.alloc(megabyte - 1, ' ');
    const refused: RawReply[] = [];
    for (let sent = 0; sent < (2 * heldBodyBytes) / megabyte && refused.length === 0; sent += 1) {
      const socket = post(address, '/Group', 'application/json', body, megabyte);
      void readAnswer(socket).then(
        (reply) => refused.push(reply),
        () => undefined,
      );
      await eventually('the body has been taken or refused', () => refused.length > 0 || socket.writableLength === 0);
    }
    await eventually('one is refused', () => refused.length > 0);
    return refused;
  }

  it('R-05 holds back the address that fills the memory, and nobody else', async () => {
    const [refused] = await floodFrom(attacker);
    expect(refused?.status).to.equal(429);
    expect(Number(refused?.headers.get('retry-after'))).to.be.greaterThan(0);
    expect((await token(victim)).status).to.equal(200);
    expect((await group(victim, 'good')).status).to.equal(201);
  });

  it('leaves room for a token request when networks have filled the memory one after the other', async () => {
    for (let nth = 1; nth <= 7; nth += 1) await floodFrom(`203.0.113.${String(nth)}`);
    expect((await token(victim)).status).to.equal(200);
  });

  it('R-05 are 64 MiB in each replica', () => {
    expect(heldBodyBytes).to.equal(64 * megabyte);
  });

  it('R-05 gives the bytes back when the requests are over, however they end', async () => {
    await floodFrom(attacker);
    for (const socket of open) socket.destroy();
    const large = Buffer.alloc(megabyte, ' ');
    await eventually('a large body of the same address is taken again', async () => {
      const { status } = await readAnswer(post(attacker, '/Group', 'application/json', large));
      // 401: it was read, and the policy for anyone did not grant it.
      return status === 401;
    });
  });

  it('R-05 counts the forms of the token endpoint and of the pages as well', async () => {
    await floodFrom(attacker);
    const padded = `${form}&x=`.padEnd(16_000, 'x');
    const statuses = new Set<number>();
    await eventually('a form is refused', async () => {
      const kept = Array.from({ length: 20 }, () => post(attacker, '/auth/signin', 'text/plain', padded, 16_001));
      for (const socket of kept) {
        readAnswer(socket).then(
          ({ status }) => statuses.add(status),
          () => undefined,
        );
      }
      const { status } = await readAnswer(post(attacker, '/auth/token', 'application/x-www-form-urlencoded', padded));
      return status === 429;
    });
  });
});
