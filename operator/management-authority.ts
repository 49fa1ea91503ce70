import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ManagementError } from '../api/client/management-error.ts';
import type { Log } from '../process/log.ts';

/**
 * Returns a function that reads the authorities (PEM) by which the operator verifies the API's certificate. The file is
 * read for each call, so a new authority takes effect without a restart. While the file is unusable, the authorities
 * read before stay in use, and the reason is logged once. The function throws ManagementError `unavailable` if there
 * are none yet.
 */
export function createManagementAuthority(file: string, log: Log): () => Promise<string> {
  let current: string | undefined;
  let problem = '';
  return async () => {
    try {
      const found = await readFile(file, 'utf8');
      if (found !== current) {
        demandCertificates(found);
        if (current !== undefined) log.info('changed authorities of the management port are in use');
      }
      [current, problem] = [found, ''];
      return found;
    } catch (cause) {
      const message = `BOXGATE_MANAGEMENT_CA_FILE ${reasonOf(cause)}`;
      if (current === undefined) throw new ManagementError('unavailable', message, { cause });
      if (message !== problem) log.warn({ message }, 'the authorities in use stay');
      problem = message;
      return current;
    }
  };
}

/** Throws if a text holds no certificate, or one that cannot be parsed: node would ignore it silently. */
function demandCertificates(text: string): void {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new Error('it is empty of certificates');
  for (const pem of found) new X509Certificate(pem);
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) return `cannot be read (${String(error.code)})`;
  return 'must hold one or more certificates in PEM';
}
