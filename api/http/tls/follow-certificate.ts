import { isDeepStrictEqual } from 'node:util';
import { expiryOf, readCertificate } from './certificate.ts';
import type { Certificate, CertificateFolder } from './certificate.ts';
import type { Log } from '../../../program/log.ts';

/** Milliseconds between two looks at the files: two small files, which Kubernetes updates within a minute. */
const period = 2_000;

/** Dependencies of {@link followCertificate}. */
export interface CertificateFollower {
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
