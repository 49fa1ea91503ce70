import { webcrypto, X509Certificate } from 'node:crypto';

/** A certificate of the management port with its key, and the authority that signed it; each is PEM text. */
export interface ServiceCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * Years for which a certificate is valid: `boxgate keys rotate certificate` replaces it earlier without an
 * interruption.
 */
const years = 10;

/**
 * Creates a certificate for the names of a Service, signed by an authority of its own (RFC 5280). The key of the
 * authority is not kept: nothing else can ever be signed by it. `now` is in milliseconds.
 */
export async function createCertificate(names: readonly string[], now: number): Promise<ServiceCertificate> {
  // The library looks for this polyfill when it is loaded, and only this command needs either of them.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const [authorityKeys, keys] = await Promise.all([generateKeys(), generateKeys()]);
  // A clock that is behind ours must not call it not yet valid.
  const validity = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + years * 365 * 86_400_000) };
  const authority = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Boxgate management authority',
      keys: authorityKeys,
      signingAlgorithm: algorithm,
      ...validity,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
      ],
    },
    webcrypto,
  );
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: 'CN=Boxgate management',
      issuer: authority.subject,
      publicKey: keys.publicKey,
      signingKey: authorityKeys.privateKey,
      signingAlgorithm: algorithm,
      ...validity,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
        await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
      ],
    },
    webcrypto,
  );
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
    authority: `${authority.toString('pem')}\n`,
  };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** Returns the certificates of a PEM text, each as PEM text with a line feed at the end; none if there is none. */
export function certificatesIn(pem: string): readonly string[] {
  const found = pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  return [...found].map(([text]) => `${text}\n`);
}

/** Returns the authorities of a PEM text that signed a certificate. Throws if one of the texts is no certificate. */
export function authoritiesOf(certificate: string, authorities: string): readonly string[] {
  const signed = new X509Certificate(certificate);
  return certificatesIn(authorities).filter((authority) => signed.verify(new X509Certificate(authority).publicKey));
}
