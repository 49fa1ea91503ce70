import { expect } from 'chai';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { expiryOf, readCertificate } from '../../../api/http/tls/certificates.ts';
import { createAuthority, createSecretFolder, tlsFiles, type SecretFolder } from '../../support/certificates.ts';

describe('the certificate of a port', () => {
  const authority = createAuthority();
  const good = authority.sign('DNS:localhost');
  const other = authority.sign('DNS:localhost');
  let secret: SecretFolder;

  beforeEach(() => {
    secret = createSecretFolder(tlsFiles(good));
  });
  afterEach(() => secret.remove());

  async function refusal(): Promise<string> {
    try {
      await readCertificate({ folder: secret.folder, setting: 'BOXGATE_TLS_FOLDER' });
      return 'none';
    } catch (error) {
      return error instanceof Error ? error.message : 'no error';
    }
  }

  it('is read from a Secret of Kubernetes as it is mounted, with the authority behind it', async () => {
    secret.replace({ 'tls.crt': `${good.cert}${authority.cert}`, 'tls.key': good.key });
    const read = await readCertificate({ folder: secret.folder, setting: 'BOXGATE_TLS_FOLDER' });
    expect(read).to.deep.equal({ cert: `${good.cert}${authority.cert}`, key: good.key });
    expect(Date.parse(expiryOf(read))).to.be.greaterThan(Date.now());
  });

  const unusable: readonly (readonly [what: string, files: Readonly<Record<string, string>>, sentence: string])[] = [
    ['no certificate', tlsFiles({ cert: 'x', key: good.key }), 'tls.crt holds no certificate in PEM'],
    ['an empty certificate', tlsFiles({ cert: '', key: good.key }), 'tls.crt holds no certificate in PEM'],
    ['no key', tlsFiles({ cert: good.cert, key: 'x' }), 'tls.key holds no private key in PEM'],
    ['an empty key', tlsFiles({ cert: good.cert, key: '' }), 'tls.key holds no private key in PEM'],
    [
      'the key of another certificate',
      tlsFiles({ cert: good.cert, key: other.key }),
      'tls.key is not the key of the certificate in tls.crt',
    ],
  ];
  for (const [what, files, sentence] of unusable) {
    it(`with ${what} is refused in one sentence`, async () => {
      secret.replace(files);
      expect(await refusal()).to.equal(`BOXGATE_TLS_FOLDER: ${sentence}`);
    });
  }

  it('that is missing is refused with the name of the file and what to do', async () => {
    rmSync(path.join(secret.folder, 'tls.key'));
    expect(await refusal()).to.equal(
      'BOXGATE_TLS_FOLDER: tls.key cannot be read (ENOENT); mount a Secret with tls.crt and tls.key there',
    );
  });
});
