import path from 'node:path';
import type { ObjectStatus } from '../operator/object-status.ts';
import { isGood } from './status-table.ts';

/** A client that a token can be had for with the secret in a file. */
export interface CurlSubject {
  readonly box: string;
  readonly id: string;
  /** Name of the Secret that holds it. */
  readonly secret: string;
}

/** What to show first of these objects: a client that is Ready, with the client credentials grant and a generated secret. */
export function curlSubject(status: ObjectStatus): CurlSubject | undefined {
  const { columns, namespace } = status;
  if (columns.kind !== 'Client' || columns.secret !== 'generated' || !isGood(status)) return undefined;
  if (!columns.grants.split(',').includes('client_credentials')) return undefined;
  return { box: namespace, id: columns.id, secret: columns.secretName };
}

/**
 * The command line that gets a token: curl sends the file that holds the secret, so that it stands in no history and no
 * list of processes. `boxUrl` is the address of the box; `file` is shown relative to `cwd` where that is shorter.
 */
export function curlCommand(boxUrl: string, file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  const shown = relative.length < file.length ? relative : file;
  return `curl ${quoted(`${boxUrl}/auth/token`)} -H 'Content-Type: application/json' -d ${quoted(`@${shown}`)}`;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
