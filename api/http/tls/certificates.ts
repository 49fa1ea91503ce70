import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext, Server as TlsServer } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Server } from 'node:http';
import type { Log } from '../../../program/log.ts';
import { startRounds } from '../../../program/scheduling.ts';
import type { ApiConfig } from '../../config.ts';

/** Certificates of both ports; a port without one speaks plain HTTP. */
export interface Certificates {
  readonly public: Certificate | undefined;
  readonly management: Certificate | undefined;
}

type Folders = Pick<ApiConfig, 'tlsFolder' | 'managementTlsFolder'>;

/** Reads the certificates that the settings name. Throws an Error of one sentence. */
export async function readCertificates(folders: Folders): Promise<Certificates> {
  const { public: open, management } = placesOf(folders);
  return {
    public: open === undefined ? undefined : await readCertificate(open),
    management: management === undefined ? undefined : await readCertificate(management),
  };
}

/**
 * Makes both servers use changed files of their certificates. It polls, because Kubernetes replaces a symbolic link
 * above the files. Returns a function that ends it.
 */
export function followCertificates(
  servers: { readonly public: Server; readonly management: Server },
  { config, certificates, log }: { readonly config: Folders; readonly certificates: Certificates; readonly log: Log },
): () => void {
  const places = placesOf(config);
  const rounds = (['public', 'management'] as const).flatMap((port) => {
    const place = places[port];
    const first = certificates[port];
    if (place === undefined || first === undefined) return [];
    return [startRounds(period, watchCertificate(place, first, { log, server: servers[port] }))];
  });
  return () => {
    for (const one of rounds) void one.stop();
  };
}

/**
 * Returns when the certificates in the files of the settings expire, in seconds since 1970, by their use. A file that
 * cannot be read is left out.
 */
export async function certificateEnds(
  config: Folders & Pick<ApiConfig, 'databases'>,
): Promise<ReadonlyMap<string, number>> {
  const { public: open, management } = placesOf(config);
  const database = new URL(config.databases[0].url).searchParams;
  const files = [
    ['public', open && path.join(open.folder, 'tls.crt'), 'chain'],
    ['management', management && path.join(management.folder, 'tls.crt'), 'chain'],
    ['database_authority', database.get('sslrootcert'), 'authorities'],
    ['database_client', database.get('sslcert'), 'chain'],
  ] as const;
  const ends = new Map<string, number>();
  for (const [name, file, use] of files) {
    const pem = file ? await readFile(file, 'utf8').catch(() => '') : '';
    const end = endOf(pem, use);
    if (end !== undefined) ends.set(name, end);
  }
  return ends;
}

function placesOf({ tlsFolder, managementTlsFolder }: Folders) {
  return {
    public: tlsFolder === undefined ? undefined : { folder: tlsFolder, setting: 'BOXGATE_TLS_FOLDER' },
    management:
      managementTlsFolder === undefined
        ? undefined
        : { folder: managementTlsFolder, setting: 'BOXGATE_MANAGEMENT_TLS_FOLDER' },
  };
}

/** Milliseconds between two looks at the files: two small files, which Kubernetes updates within a minute. */
const period = 2_000;

/**
 * Returns a function that looks at the files of a folder, and makes a server use them for new connections if they have
 * changed; open ones go on. A certificate that cannot be used is logged once and changes nothing; it is logged at the
 * second look, since the two files may be read in the middle of a change.
 */
export function watchCertificate(
  place: CertificateFolder,
  first: Certificate,
  { log, server }: { readonly log: Log; readonly server: Server },
): () => Promise<void> {
  if (!(server instanceof TlsServer)) throw new TypeError('this server speaks no TLS');
  let current = first;
  let problem: { readonly message: string; readonly isLogged: boolean } | undefined;
  return async () => {
    try {
      const found = await readCertificate(place);
      problem = undefined;
      if (isDeepStrictEqual(found, current)) return;
      server.setSecureContext(withTls(found));
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
  };
}

/** A certificate chain and its private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Returns the settings of a server with a certificate: it speaks TLS only, of version 1.2 or newer. */
export function withTls({ cert, key }: Certificate) {
  return { cert, key, minVersion: 'TLSv1.2' } as const;
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
function endOf(pem: string, use: 'chain' | 'authorities'): number | undefined {
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
