import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import path from 'node:path';
import { certificateEnds } from '../api/http/tls/certificates.ts';
import { startApi } from './support/api.ts';
import { createAuthority, createSecretFolder, tlsFiles } from './support/certificates.ts';

const secondsOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime() / 1_000;

describe('boxgate_certificate_expiry_seconds', () => {
  const authority = createAuthority();

  // E-30: a certificate ended, and nothing had told that it would.
  it('is when the certificate in the mounted file expires, also after it was replaced', async () => {
    const [short, long] = [authority.sign('DNS:localhost', 3), authority.sign('DNS:localhost', 30)];
    const secret = createSecretFolder(tlsFiles(short));
    const api = await startApi({ environment: { BOXGATE_TLS_FOLDER: secret.folder } });
    const shown = async () => {
      const page = await (await fetch(`${api.managementUrl}/metrics`)).text();
      return [...page.matchAll(/^boxgate_certificate_expiry_seconds\{(.*)\} (\d+)$/gm)].map((line) => line.slice(1));
    };
    try {
      expect(await shown()).to.deep.equal([['certificate="public"', String(secondsOf(short.cert))]]);
      secret.replace(tlsFiles(long));
      expect(await shown()).to.deep.equal([['certificate="public"', String(secondsOf(long.cert))]]);
    } finally {
      await api.stop();
      secret.remove();
    }
  });

  it('is that of the first of a chain to expire, and of the last of several authorities', async () => {
    const [short, long] = [authority.sign('DNS:localhost', 3).cert, authority.sign('DNS:localhost', 30).cert];
    const secret = createSecretFolder({ 'tls.crt': long + short, 'ca.crt': long + short, 'client.crt': 'nothing' });
    const file = (name: string) => encodeURIComponent(path.join(secret.folder, name));
    const databaseUrl = `postgres://a@b/c?sslrootcert=${file('ca.crt')}&sslcert=${file('client.crt')}`;
    try {
      const folders = { tlsFolder: undefined, managementTlsFolder: secret.folder };
      expect([
        ...(await certificateEnds({ ...folders, databases: [{ name: 'home', url: databaseUrl }] })),
      ]).to.deep.equal([
        ['management', secondsOf(short)],
        ['database_authority', secondsOf(long)],
      ]);
    } finally {
      secret.remove();
    }
  });
});
