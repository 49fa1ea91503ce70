import type { ObjectStatus } from '../operator/object-status.ts';
import { shortPath } from './short-path.ts';
import { isGood } from './status-table.ts';

/** A client that a token can be requested for with its secret. */
export interface CurlSubject {
  readonly box: string;
  readonly id: string;
  /** Name of the Secret that holds the secret; empty when it stands in the client itself. */
  readonly secret: string;
  /** The place where the client is declared, as `file:line`. */
  readonly place: string;
}

/** Returns what to show of an object: a client that is Ready, with the client credentials grant and a generated secret. */
export function generatedSubject(status: ObjectStatus): CurlSubject | undefined {
  return status.columns.kind === 'Client' && status.columns.secret === 'generated' ? subjectOf(status) : undefined;
}

/** Returns what to show of an object: a client that is Ready, with the client credentials grant and a secret that somebody chose. */
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
 * The command line that gets a token: curl sends the file that holds the secret, so that it stands in no history and no
 * list of processes. `boxUrl` is the address of the box; `file` is shown relative to `cwd` where that is shorter.
 */
export function curlCommand(boxUrl: string, file: string, cwd: string): string {
  const shown = shortPath(file, cwd);
  return `curl ${quoted(`${boxUrl}/auth/token`)} -H 'Content-Type: application/json' -d ${quoted(`@${shown}`)}`;
}

/** The command line that gets a token with a chosen secret: curl asks for it, so that no output and no history has it. */
export function askingCurlCommand(boxUrl: string, id: string): string {
  return `curl -u ${quoted(id)} ${quoted(`${boxUrl}/auth/token`)} -d grant_type=client_credentials`;
}

/** Quotes a text for a shell where that is necessary. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
