import path from 'node:path';
import { expect } from 'chai';
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createManagement } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';
import { createManagementAuthority } from '../../operator/cluster-reconciler.ts';
import { createLog } from '../../program/log.ts';
import { createAuthority, createSecretFolder, type SecretFolder } from '../support/certificates.ts';
import type { Certificate } from '../support/localhost-certificate.ts';
import { portOf } from '../../program/environment.ts';

const signal = new AbortController().signal;

describe('the management port over TLS, as the operator calls it', () => {
  const authority = createAuthority();
  const next = createAuthority();
  let server: Server;
  let secret: SecretFolder;
  let lines: string[];
  let calls: number;

  async function serve(certificate: Certificate): Promise<void> {
    calls = 0;
    server = createServer(certificate, (_request, response) => {
      calls += 1;
      response.end('{"epoch":1}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  beforeEach(() => {
    lines = [];
    secret = createSecretFolder({ 'ca.crt': authority.cert });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    secret.remove();
  });

  function client(host = 'localhost') {
    const log = createLog('info', { write: (line) => void lines.push(line) });
    return createManagement({
      url: `https://${host}:${String(portOf(server))}`,
      key: new Secret('the-key-of-the-port'),
      authority: createManagementAuthority(path.join(secret.folder, 'ca.crt'), log),
    });
  }

  /** Returns how a call ends: `done`, or the code and the message of its error. */
  async function outcome(management: ReturnType<typeof createManagement>): Promise<string> {
    try {
      await management.claimEpoch('c', signal);
      return 'done';
    } catch (error) {
      return error instanceof Error && 'code' in error ? `${String(error.code)} ${error.message}` : String(error);
    }
  }

  it('is called when the authority has signed the name of the host', async () => {
    await serve(authority.sign('DNS:localhost'));
    expect(await outcome(client())).to.equal('done');
  });

  it('R-17 is not sent the key when another authority has signed its certificate', async () => {
    await serve(next.sign('DNS:localhost'));
    expect(await outcome(client())).to.match(
      /^unavailable the API cannot be reached: its certificate is not signed by an authority of BOXGATE_MANAGEMENT_CA_FILE/,
    );
    expect(calls).to.equal(0);
  });

  it('R-17 is not sent the key when its certificate has another name', async () => {
    await serve(authority.sign('DNS:elsewhere.example'));
    expect(await outcome(client())).to.match(
      /^unavailable the API cannot be reached: its certificate is not for the host of BOXGATE_MANAGEMENT_URL/,
    );
    expect(calls).to.equal(0);
  });

  it('is not sent the key when its certificate has expired', async () => {
    await serve(authority.sign('DNS:localhost', -1));
    expect(await outcome(client())).to.match(/its certificate has expired: renew the one of the management port$/);
    expect(calls).to.equal(0);
  });

  it('is verified although the environment asks Node.js to verify nothing', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await serve(next.sign('DNS:localhost'));
      expect(await outcome(client())).to.match(/its certificate is not signed by an authority/);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('is trusted by both authorities while one replaces the other, without a restart', async () => {
    await serve(authority.sign('DNS:localhost'));
    const management = client();
    expect(await outcome(management)).to.equal('done');
    secret.replace({ 'ca.crt': `${authority.cert}${next.cert}` });
    expect(await outcome(management)).to.equal('done');
    server.setSecureContext(next.sign('DNS:localhost'));
    expect(await outcome(management)).to.equal('done');
    secret.replace({ 'ca.crt': next.cert });
    expect(await outcome(management)).to.equal('done');
    expect(lines.join()).to.include('changed authorities of the management port are in use');
  });

  it('keeps the authorities that it has read while the file is unusable, and says so once', async () => {
    await serve(authority.sign('DNS:localhost'));
    const management = client();
    expect(await outcome(management)).to.equal('done');
    for (const text of ['', 'no certificate', `${next.cert.slice(0, 200)}\n-----END CERTIFICATE-----\n`]) {
      secret.replace({ 'ca.crt': text });
      expect(await outcome(management), text).to.equal('done');
    }
    expect(lines).to.have.length(1);
    expect(lines.join()).to.include('BOXGATE_MANAGEMENT_CA_FILE must hold one or more certificates in PEM');
  });

  it('is not called without any authority, and the error names the setting', async () => {
    await serve(authority.sign('DNS:localhost'));
    rmSync(path.join(secret.folder, 'ca.crt'));
    expect(await outcome(client())).to.equal('unavailable BOXGATE_MANAGEMENT_CA_FILE cannot be read (ENOENT)');
    expect(calls).to.equal(0);
  });
});
