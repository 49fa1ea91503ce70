import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import { startHttpWrites } from './http-writes.ts';
import { createWriteLog, WAYS, type Way } from './write-log.ts';
import { portOf } from '../../../program/environment.ts';

describe('a proxy of HTTP that shows writes', () => {
  let server: Server;
  let received: string[];
  let target: string;

  before(async () => {
    server = createServer((request, response) => {
      received.push(`${String(request.method)} ${String(request.url)}`);
      response.end('done');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target = `http://127.0.0.1:${String(portOf(server))}`;
  });
  beforeEach(() => (received = []));
  after(() => void server.close());

  /** Reads, then writes. Returns the answer to the write, and how often the process was ended. */
  async function play(way: Way | undefined): Promise<{ got: string; ended: number }> {
    const log = createWriteLog();
    log.begin('shop', way && { write: 'POST /x', way, place: 1 });
    const crashed = Promise.withResolvers<undefined>();
    let ended = 0;
    const proxy = await startHttpWrites({
      target: () => Promise.resolve(target),
      describe: (method, path) => ({ what: `${method} ${path}`, box: undefined }),
      log,
      crash() {
        ended += 1;
        crashed.resolve(undefined);
      },
    });
    const url = `http://127.0.0.1:${String(proxy.port)}`;
    expect(await (await fetch(`${url}/read`)).text()).to.equal('done');
    const got = await fetch(`${url}/x`, { method: 'POST', body: 'it' }).then(
      (response) => response.text(),
      () => 'nothing',
    );
    if (way !== undefined && way !== 'connection cut') await crashed.promise;
    await proxy.close();
    return { got, ended };
  }

  const outcomes = {
    before: { got: 'nothing', sent: ['GET /read'] },
    after: { got: 'done', sent: ['GET /read', 'POST /x'] },
    'answer lost': { got: 'nothing', sent: ['GET /read', 'POST /x'] },
    'connection cut': { got: 'nothing', sent: ['GET /read', 'POST /x'] },
  } as const satisfies Record<Way, object>;
  for (const way of WAYS) {
    it(`ends it: ${way}`, async () => {
      const { got, sent } = outcomes[way];
      expect(await play(way)).to.deep.equal({ got, ended: way === 'connection cut' ? 0 : 1 });
      expect(received).to.deep.equal(sent);
    });
  }

  it('is not noticed where no plan is', async () => {
    expect(await play(undefined)).to.deep.equal({ got: 'done', ended: 0 });
  });
});
