import type { ObjectStatus } from '../operator/status/object-status.ts';
import { isGood } from './status-table.ts';
import path from 'node:path';
import { isObject } from '../crds/path.ts';

/** A person who can sign in: the first admin of a box. */
export interface AccountSubject {
  readonly box: string;
  readonly email: string;
  /** Name of the Secret that holds the password. */
  readonly secret: string;
  readonly issuer: string;
}

/** Returns the first admin of a Box that is Ready or suspended. */
export function accountSubject(status: ObjectStatus): AccountSubject | undefined {
  const { columns, namespace } = status;
  if (columns.kind !== 'Box' || columns.admin === undefined || !isGood(status)) return undefined;
  return { box: namespace, ...columns.admin, issuer: columns.issuer };
}

/** The path at which examples/app takes the code. */
const callback = /^http:\/\/127\.0\.0\.1(:\d+)?\/callback$/;
/** The scope that examples/app requests. */
const requested = ['openid', 'email'];

/**
 * Returns the ID of a client that examples/app can sign people in with: a public client with the code grant whose
 * redirect URI is the app's own, on any port (RFC 8252 section 7.3). `body` is the manifest.
 */
export function exampleClient(body: unknown): string | undefined {
  const spec = memberOf(body, 'spec');
  const [grants, scope] = [memberOf(spec, 'grant_types'), memberOf(spec, 'scope')];
  const code = memberOf(memberOf(spec, 'auth'), 'authorization_code');
  const isPublic = ['secret', 'secretRef', 'generateSecret', 'jwks', 'jwks_uri', 'service_accounts'].every(
    (name) => memberOf(spec, name) === undefined,
  );
  if (!isPublic || memberOf(spec, 'active') === false || memberOf(code, 'secret_required') === true) return undefined;
  if (!texts(grants).includes('authorization_code') || texts(grants).includes('client_credentials')) return undefined;
  if (scope !== undefined && !requested.every((name) => texts(scope).includes(name))) return undefined;
  const uris = [memberOf(code, 'redirect_uri'), ...texts(memberOf(code, 'redirect_uris'))];
  if (!uris.some((uri) => typeof uri === 'string' && callback.test(uri))) return undefined;
  const id = memberOf(spec, 'id') ?? memberOf(memberOf(body, 'metadata'), 'name');
  return typeof id === 'string' ? id : undefined;
}

/** Returns the hint on signing in as `account`: `command` starts an app, `address` is that of the sign-in page. */
export function signInHint(
  account: Pick<AccountSubject, 'email' | 'secret'>,
  password: string | undefined,
  step: { readonly command: string } | { readonly address: string },
): string {
  const first =
    'command' in step
      ? `To sign in to an app, start this one in another terminal and open the address that it prints:\n\n  ${step.command}\n`
      : `To sign in, open:\n\n  ${step.address}\n`;
  const where = password === undefined ? `Secret ${account.secret}` : `${password} (Secret ${account.secret})`;
  return `${first}\nSign in as ${account.email}; the password is in ${where}.\n`;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function texts(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

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

/** Returns a path relative to `cwd` where that is shorter. */
export function shortPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.length < file.length ? relative : file;
}

/** Value of the first object, in the order of files, that has one. */
interface FirstOf<T> {
  readonly value: T | undefined;
  note(status: ObjectStatus): void;
  forget(status: ObjectStatus): void;
}

/** Keeps one value out of ten thousand objects; `pick` returns that of an object, or undefined if it has none. */
export function firstOf<T>(pick: (status: ObjectStatus) => T | undefined): FirstOf<T> {
  let first: { readonly key: string; readonly place: string; readonly value: T } | undefined;

  function forget(status: ObjectStatus): void {
    if (first?.key === keyOf(status)) first = undefined;
  }

  return {
    forget,
    note(status) {
      forget(status);
      const value = pick(status);
      const { place } = status;
      if (value !== undefined && (first === undefined || place < first.place)) {
        first = { key: keyOf(status), place, value };
      }
    },
    get value() {
      return first?.value;
    },
  };
}

/** Returns a key that is unique among the objects of all boxes. */
export function keyOf({ namespace, kind, name }: Pick<ObjectStatus, 'namespace' | 'kind' | 'name'>): string {
  return `${namespace}/${kind}/${name}`;
}
