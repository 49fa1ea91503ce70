import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../../program/log.ts';

/** Milliseconds between two looks at the files: two small files, which Kubernetes updates within a minute. */
const period = 2_000;

/** Dependencies of {@link followCertificate}. */
interface CertificateFollower {
  readonly log: Log;
  /** Calls back after `wait` milliseconds, unless the returned function is called first. */
  readonly schedule: (wait: number, callback: () => void) => () => void;
  /** Called with each certificate that replaces the one before. */
  readonly use: (certificate: Certificate) => void;
}

/**
 * Calls `use` when the files of a folder have changed. It polls, because Kubernetes replaces a symbolic link above the
 * files. A certificate that cannot be used is logged once and changes nothing; it is logged at the second look, since
 * the two files may be read in the middle of a change. Returns a function that ends it.
 */
export function followCertificate(
  place: CertificateFolder,
  first: Certificate,
  { log, schedule, use }: CertificateFollower,
): () => void {
  let current = first;
  let problem: { readonly message: string; readonly isLogged: boolean } | undefined;
  let cancel = (): void => undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    try {
      const found = await readCertificate(place);
      if (isStopped) return;
      problem = undefined;
      if (isDeepStrictEqual(found, current)) return;
      use(found);
      current = found;
      log.info({ setting: place.setting, not_after: expiryOf(found) }, 'a changed certificate is in use');
    } catch (error) {
      const message = error instanceof Error ? error.message : 'unknown';
      const isSecond = problem?.message === message;
      if (isSecond && problem?.isLogged !== true) {
        log.warn(
          { message, not_after: expiryOf(current) },
          'the certificate in use stays, because the new one is unusable',
        );
      }
      problem = { message, isLogged: isSecond };
    }
  }

  function next(): void {
    cancel = schedule(period, () => {
      void look().then(() => {
        if (!isStopped) next();
      });
    });
  }

  next();
  return () => {
    isStopped = true;
    cancel();
  };
}

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
