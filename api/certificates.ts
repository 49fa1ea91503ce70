import type { Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ApiConfig } from './config.ts';
import { endOf, readCertificate, followCertificate } from './http/tls/certificate.ts';
import type { Certificate } from './http/tls/certificate.ts';
import { replaceCertificate } from './http/server/server.ts';
import type { Log } from '../program/log.ts';
import { schedule } from '../program/scheduling.ts';

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

/** Makes both servers use changed files of their certificates. Returns a function that ends it. */
export function followCertificates(
  servers: { readonly public: Server; readonly management: Server },
  { config, certificates, log }: { readonly config: Folders; readonly certificates: Certificates; readonly log: Log },
): () => void {
  const places = placesOf(config);
  const ends = (['public', 'management'] as const).flatMap((port) => {
    const place = places[port];
    const first = certificates[port];
    if (place === undefined || first === undefined) return [];
    const use = (certificate: Certificate): void => replaceCertificate(servers[port], certificate);
    return [followCertificate(place, first, { log, schedule, use })];
  });
  return () => {
    for (const end of ends) end();
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
  const ends = await Promise.all(
    files.map(async ([name, file, use]): Promise<readonly [string, number | undefined]> => {
      return [
        name,
        file
          ? await readFile(file, 'utf8').then(
              (pem) => endOf(pem, use),
              () => undefined,
            )
          : undefined,
      ];
    }),
  );
  return new Map(ends.flatMap(([name, end]) => (end === undefined ? [] : [[name, end] as const])));
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
