import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startServer, type ServerProcess } from '../../../tools/bench/machine/server-process.ts';

const program = fileURLToPath(new URL('../../../tools/bench/balancer.ts', import.meta.url));

async function listen(answer: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_request, response) => response.end(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

/** Asks on a connection of its own. */
function ask(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent: false }, (response) => resolve(text(response)))
      .on('error', reject)
      .end();
  });
}

describe('the balancer of the bench', () => {
  let balancer: ServerProcess | undefined;
  const servers: Server[] = [];

  afterEach(async () => {
    await balancer?.stop();
    for (const server of servers.splice(0)) server.close();
  });

  it('gives connections to the servers in turn', async () => {
    const [one, other] = await Promise.all([listen('one'), listen('other')]);
    servers.push(one.server, other.server);
    balancer = await startServer([program, String(one.port), String(other.port)], {});
    const answers: string[] = [];
    while (answers.length < 4) answers.push(await ask(balancer.port));
    expect(answers).to.deep.equal(['one', 'other', 'one', 'other']);
  });

  it('closes the connection of a caller whose server is gone', async () => {
    const { server, port } = await listen('');
    server.close();
    await once(server, 'close');
    balancer = await startServer([program, String(port)], {});
    const outcome = await ask(balancer.port).catch((error: unknown) => (error instanceof Error ? 'closed' : 'odd'));
    expect(outcome).to.equal('closed');
  });
});
