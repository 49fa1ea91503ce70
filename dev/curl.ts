import type { ObjectStatus } from '../operator/status/object-status.ts';
import { shortPath } from './short-path.ts';
import { isGood } from './status-table.ts';

/** A client whose secret can be used to request a token. */
export interface CurlSubject {
  readonly box: string;
  readonly id: string;
  /** Name of the Secret that holds the secret; empty if it is in the client itself. */
  readonly secret: string;
  /** The place where the client is declared, as `file:line`. */
  readonly place: string;
}

/** Returns the subject if an object is a good client with the client credentials grant and a generated secret. */
export function generatedSubject(status: ObjectStatus): CurlSubject | undefined {
  return status.columns.kind === 'Client' && status.columns.secret === 'generated' ? subjectOf(status) : undefined;
}

/** Returns the subject if an object is a good client with the client credentials grant and a chosen secret. */
export function chosenSubject(status: ObjectStatus): CurlSubject | undefined {
  const { columns } = status;
  const isChosen = columns.kind === 'Client' && (columns.secret === 'inline' || columns.secret === 'reference');
  return isChosen ? subjectOf(status) : undefined;
}

function subjectOf(status: ObjectStatus): CurlSubject | undefined {
  const { columns, namespace, place } = status;
  if (columns.kind !== 'Client' || !isGood(status)) return undefined;
  if (!columns.grants.split(',').includes('client_credentials')) return undefined;
  return { box: namespace, id: columns.id, secret: columns.secretName, place };
}

/**
 * Returns the command line that requests a token: curl sends the file with the secret, which thus appears in no history
 * and no process list. `boxUrl` is the address of the box; `file` is shown relative to `cwd` if that is shorter.
 */
export function curlCommand(boxUrl: string, file: string, cwd: string): string {
  const shown = shortPath(file, cwd);
  return `curl ${quoted(`${boxUrl}/auth/token`)} -H 'Content-Type: application/json' -d ${quoted(`@${shown}`)}`;
}

/** Returns the command line that requests a token with a chosen secret: curl asks for it, so no history has it. */
export function askingCurlCommand(boxUrl: string, id: string): string {
  return `curl -u ${quoted(id)} ${quoted(`${boxUrl}/auth/token`)} -d grant_type=client_credentials`;
}

/** Quotes a text for a shell where that is necessary. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
