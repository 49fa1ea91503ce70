import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Certificate } from './localhost-certificate.ts';

/** An authority that signs certificates. */
export interface Authority {
  /** Its certificate in PEM. */
  readonly cert: string;
  /** Creates a key and a certificate for names such as `DNS:localhost` or `IP:127.0.0.1`, valid for `days`. */
  sign(names: string, days?: number): Certificate;
}

/** Creates an authority with openssl. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-authority-'));
  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  try {
    openssl(
      'req',
      '-x509',
      ...curve,
      '-subj',
      '/CN=test authority',
      '-days',
      '1',
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
    );
    const cert = openssl('x509', '-in', 'ca.crt');
    const caKey = openssl('pkey', '-in', 'ca.key');
    return { cert, sign: (names, days = 1) => sign({ cert, key: caKey }, names, days) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sign(authority: Certificate, names: string, days: number): Certificate {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-certificate-'));
  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    writeFileSync(path.join(folder, 'ca.crt'), authority.cert);
    writeFileSync(path.join(folder, 'ca.key'), authority.key);
    writeFileSync(path.join(folder, 'names'), `subjectAltName=${names}\n`);
    openssl(
      ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=test'],
      ...['-keyout', 'tls.key', '-out', 'tls.csr'],
    );
    openssl(
      ...['x509', '-req', '-in', 'tls.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...['-days', String(days), '-extfile', 'names', '-out', 'tls.crt'],
    );
    return { cert: openssl('x509', '-in', 'tls.crt'), key: openssl('pkey', '-in', 'tls.key') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A folder whose files are replaced together, as Kubernetes does with the files of a Secret. */
export interface SecretFolder {
  readonly folder: string;
  /** Replaces all files: the link `..data`, above which every file is a link, moves to a new folder. */
  replace(files: Readonly<Record<string, string>>): void;
  remove(): void;
}

/** Creates a folder as Kubernetes mounts a Secret. */
export function createSecretFolder(files: Readonly<Record<string, string>>): SecretFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-secret-'));
  let version = 0;
  function replace(next: Readonly<Record<string, string>>): void {
    version += 1;
    const data = `..${String(version)}`;
    mkdirSync(path.join(folder, data));
    for (const [name, text] of Object.entries(next)) writeFileSync(path.join(folder, data, name), text);
    symlinkSync(data, path.join(folder, '..data.new'));
    renameSync(path.join(folder, '..data.new'), path.join(folder, '..data'));
  }
  replace(files);
  for (const name of Object.keys(files)) symlinkSync(path.join('..data', name), path.join(folder, name));
  return { folder, replace, remove: () => rmSync(folder, { recursive: true }) };
}

/** Returns the files of a Secret of the type `kubernetes.io/tls`. */
export function tlsFiles({ cert, key }: Certificate): Readonly<Record<string, string>> {
  return { 'tls.crt': cert, 'tls.key': key };
}
