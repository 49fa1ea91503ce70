import { execFileSync } from 'node:child_process';

/** A key and a certificate in PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Creates a key and a certificate of its own authority for `localhost`, valid for a day. Fails without openssl. */
export function localhostCertificate(): Certificate {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const whose = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1'];
  const pem = execFileSync('openssl', ['req', '-x509', ...curve, '-nodes', ...whose, '-keyout', '-', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const at = pem.indexOf('-----BEGIN CERTIFICATE-----');
  return { key: pem.slice(0, at), cert: pem.slice(at) };
}
