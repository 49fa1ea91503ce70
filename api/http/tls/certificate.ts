import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext } from 'node:tls';

/** A certificate chain and its private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A folder with `tls.crt` and `tls.key`, as Kubernetes mounts a Secret of the type `kubernetes.io/tls`. */
export interface CertificateFolder {
  readonly folder: string;
  /** Variable that names the folder; errors begin with it. */
  readonly setting: string;
}

/** Reads a certificate and checks that a server can use it. Throws an Error of one sentence. */
export async function readCertificate({ folder, setting }: CertificateFolder): Promise<Certificate> {
  const [cert, key] = await Promise.all([
    textOf(path.join(folder, 'tls.crt'), setting),
    textOf(path.join(folder, 'tls.key'), setting),
  ]);
  check({ cert, key }, setting);
  return { cert, key };
}

/** Returns the end of a certificate's validity, as an ISO 8601 text. */
export function expiryOf({ cert }: Certificate): string {
  return new X509Certificate(cert).validToDate.toISOString();
}

/**
 * Returns when certificates in PEM expire, in seconds since 1970: a chain with its first one, authorities, each of
 * which may have signed, with their last one. Undefined if the text holds no certificate.
 */
export function endOf(pem: string, use: 'chain' | 'authorities'): number | undefined {
  const ends = (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one).validToDate.getTime() / 1_000,
  );
  if (ends.length === 0) return undefined;
  return use === 'chain' ? Math.min(...ends) : Math.max(...ends);
}

async function textOf(file: string, setting: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    const name = path.basename(file);
    throw new Error(`${setting}: ${name} cannot be read (${code}); mount a Secret with tls.crt and tls.key there`, {
      cause,
    });
  }
}

function check({ cert, key }: Certificate, setting: string): void {
  const privateKey = attempt(() => createPrivateKey(key), `${setting}: tls.key holds no private key in PEM`);
  const certificate = attempt(() => {
    createSecureContext({ cert });
    return new X509Certificate(cert);
  }, `${setting}: tls.crt holds no certificate in PEM`);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`${setting}: tls.key is not the key of the certificate in tls.crt`);
  }
}

function attempt<T>(work: () => T, sentence: string): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(sentence, { cause });
  }
}
