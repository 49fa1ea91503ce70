import { expect } from 'chai';
import { Agent, request as send } from 'node:https';
import type { Server } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { readCertificate, watchCertificate } from '../../../api/http/tls/certificates.ts';
import { gracefulStop, type Stop } from '../../../api/http/server/graceful-stop.ts';
import { createHttpServer, defaultServerLimits, listen } from '../../../api/http/server/server.ts';
import { createLog } from '../../../program/log.ts';
import { createAuthority, createSecretFolder, tlsFiles, type SecretFolder } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';

describe('a server with TLS', () => {
  const authority = createAuthority();
  const first = authority.sign('DNS:localhost');
  const second = authority.sign('DNS:localhost');
  let secret: SecretFolder;
  let server: Server;
  let port = 0;
  let stop: Stop;
  let looked: () => Promise<void>;
  let failed: string[];
  let lines: string[];

  beforeEach(async () => {
    secret = createSecretFolder(tlsFiles(first));
    const place = { folder: secret.folder, setting: 'BOXGATE_TLS_FOLDER' };
    const certificate = await readCertificate(place);
    [failed, lines] = [[], []];
    server = createHttpServer((_request, response) => response.end('ok'), defaultServerLimits, undefined, {
      certificate,
      onFailedHandshake: (code, peer) => failed.push(`${peer} ${code}`),
    });
    stop = gracefulStop(server);
    port = await listen(server, '127.0.0.1', 0);
    const log = createLog('info', { write: (line) => void lines.push(line) });
    looked = watchCertificate(place, certificate, { log, server });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    secret.remove();
  });

  async function open(more: object = {}): Promise<TLSSocket> {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.cert, ...more });
    await once(socket, 'secureConnect');
    return socket;
  }

  /** Returns the serial number of the certificate that a new connection is shown. */
  async function shown(): Promise<string> {
    const socket = await open();
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  function get(agent: Agent): Promise<{ readonly status: number | undefined; readonly isReused: boolean }> {
    return new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', servername: 'localhost', ca: authority.cert, agent };
      const sent = send(options, (response) => {
        response.resume();
        response.once('end', () => resolve({ status: response.statusCode, isReused: sent.reusedSocket }));
      });
      sent.once('error', reject).end();
    });
  }

  it('uses changed files for new connections, and goes on answering on open ones', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get(agent)).to.deep.equal({ status: 200, isReused: false });
    const before = await shown();
    secret.replace(tlsFiles(second));
    await looked();
    expect(await shown()).to.not.equal(before);
    expect(await get(agent)).to.deep.equal({ status: 200, isReused: true });
    expect(lines.join()).to.include('a changed certificate is in use').and.to.not.include('PRIVATE KEY');
    agent.destroy();
  });

  it('keeps its certificate while the new files are unusable, says so once, and takes the next good ones', async () => {
    const before = await shown();
    secret.replace(tlsFiles({ cert: second.cert, key: first.key }));
    for (let times = 0; times < 4; times += 1) await looked();
    expect(await shown()).to.equal(before);
    expect(lines).to.have.length(1);
    expect(lines.join()).to.include('BOXGATE_TLS_FOLDER: tls.key is not the key of the certificate in tls.crt');
    secret.replace(tlsFiles(second));
    await looked();
    expect(await shown()).to.not.equal(before);
  });

  it('says nothing of files that were read in the middle of a change', async () => {
    secret.replace(tlsFiles({ cert: second.cert, key: first.key }));
    await looked();
    secret.replace(tlsFiles(second));
    await looked();
    expect(lines).to.have.length(1);
    expect(lines.join()).to.include('a changed certificate is in use');
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`speaks ${version}`, async () => {
      const socket = await open({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).to.equal(version);
      socket.destroy();
    });
  }

  it('refuses TLS 1.1, plain HTTP and bytes of no protocol, and tells who tried', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    const refused = await open(old).then(
      () => 'spoken',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(refused).to.match(/protocol version/);
    await eventually('it is told', () => failed.length === 1);
    const answer = await fetch(`http://127.0.0.1:${String(port)}/`).then(
      () => 'answered',
      () => 'closed',
    );
    expect(answer).to.equal('closed');
    await eventually('it is told', () => failed.length === 2);
    expect(
      failed.every((line) => /^127\.0\.0\.1 ERR_SSL_\w+$/.test(line)),
      failed.join(),
    ).to.equal(true);
  });

  it('stops although a caller holds a connection on which it has sent nothing', async () => {
    const idle = await open();
    const closed = once(idle, 'close');
    idle.resume();
    await stop({ quiet: 20, drain: 100, linger: 0, grace: 600_000 });
    await closed;
  });
});
