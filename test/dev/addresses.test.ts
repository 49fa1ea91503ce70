import { expect } from 'chai';
import { createServer, type Server } from 'node:net';
import { parseJson } from '../../crds/path.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { ownPort } from '../support/own-port.ts';
import { runBoxgate, startBoxgate } from './boxgate-process.ts';
import { anyPorts, urlsOf } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

describe('where boxgate dev is', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;
  const servers: Server[] = [];

  before(async () => {
    folder = temporaryFolder();
    folder.write('client.yaml', clientYaml('client', '  secret: chosen\n'));
    database = await freshDatabase();
  });
  after(async () => {
    for (const server of servers.splice(0)) server.close();
    folder.remove();
    await database.drop();
  });

  /** Starts it, and waits until it is ready. */
  async function started(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const boxgate = startBoxgate(['dev', folder.root, ...urlsOf(database), ...args], { environment });
    const [, url = ''] = await boxgate.said(/^ready (\S+)$/m);
    return { boxgate, url };
  }

  /** Makes sure that a port is taken, by this test or another program. */
  async function occupy(port: number): Promise<void> {
    const server = createServer();
    await new Promise<void>((resolve) => server.once('error', resolve).listen(port, '127.0.0.1', resolve));
    servers.push(server);
  }

  const issuerAt = async (url: string): Promise<unknown> =>
    parseJson(await (await fetch(`${url}/boxes/default/.well-known/openid-configuration`)).text());

  it('takes another port, and says so in one line, where none is given and 8080 is taken', async () => {
    await Promise.all([8080, 8081].map(occupy));
    const { boxgate, url } = await started([]);
    const port = new URL(url).port;
    expect(Number(port)).not.to.equal(8080);
    expect(boxgate.stderr).to.equal(`Port 8080 is in use: this is served on ${port}; --port chooses another\n`);
    expect(boxgate.stdout).to.contain(`\nThe console of the box default: ${url}/boxes/default/ui/\n`);
    expect(await issuerAt(url)).to.include({ issuer: `${url}/boxes/default` });
    expect(await boxgate.end()).to.equal(0);
  });

  it('takes the port of PORT, and any management port where the usual one is taken', async () => {
    const port = String(await ownPort());
    const { boxgate, url } = await started([], { PORT: port });
    expect([url, boxgate.stderr]).to.deep.equal([`http://127.0.0.1:${port}`, '']);
    await boxgate.end();
  });

  it('listens on the address of --host, and names one that this machine can reach', async () => {
    for (const [host, shown] of [
      ['0.0.0.0', '127.0.0.1'],
      ['127.0.0.2', '127.0.0.2'],
    ] as const) {
      const { boxgate, url } = await started([...anyPorts, '--host', host]);
      expect(new URL(url).hostname).to.equal(shown);
      expect(await issuerAt(url)).to.include({ issuer: `${url}/boxes/default` });
      const elsewhere = await issuerAt(url.replace(shown, '127.0.0.3')).catch(() => 'nobody');
      expect(elsewhere === 'nobody', host).to.equal(host === '127.0.0.2');
      await boxgate.end();
    }
  });

  it('says which address of --host this machine does not have', async () => {
    const { code, stderr } = await runBoxgate(['dev', folder.root, '--port', '0', '--host', '192.0.2.1']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^boxgate: --host 192\.0\.2\.1 is no address of this machine\n$/);
  });

  it('has the address of --public-url as its issuer and in what it prints, behind a proxy or tunnel', async () => {
    const publicUrl = 'https://box.example/auth';
    const port = await ownPort();
    const options = ['--port', String(port), '--management-port', '0', '--public-url', `${publicUrl}/`];
    const { boxgate, url } = await started(options);
    expect(url).to.equal(publicUrl);
    expect(boxgate.stdout).to.contain(`curl -u client ${publicUrl}/boxes/default/auth/token -d `);
    expect(await issuerAt(`http://127.0.0.1:${String(port)}`)).to.include({ issuer: `${publicUrl}/boxes/default` });
    await boxgate.end();
  });
});
