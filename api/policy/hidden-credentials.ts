import { isList, isObject } from './json-value.ts';

/** What policies see instead of a password or secret in a body: only that one is given. */
export const PRESENT = '[present]';

/**
 * Returns a body without the passwords and secrets in it: in their place stands {@link PRESENT}. They are members of the record, of
 * a merge patch or of the values of a JSON patch, or those of the request that `$explain` is about. A body without any is returned as it is.
 */
export function withoutCredentials(body: unknown): unknown {
  if (isList(body)) return body.some(setsCredential) ? body.map(withoutPatchedCredential) : body;
  if (!isObject(body)) return body;
  const names = Object.keys(body).filter((name) => isHidden(name, body[name]) || holdsRequest(name, body[name]));
  if (names.length === 0) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, names.includes(name) ? hidden(name, value) : value]),
  );
}

const CREDENTIALS: ReadonlySet<string> = new Set(['password', 'old_password', 'secret', 'client_secret']);

/** `null` is no value: it removes a secret. */
function isHidden(name: string, value: unknown): boolean {
  return CREDENTIALS.has(name) && value !== null && value !== undefined;
}

function holdsRequest(name: string, value: unknown): boolean {
  return name === 'request' && isObject(value) && 'body' in value;
}

function hidden(name: string, value: unknown): unknown {
  if (!isObject(value) || name !== 'request') return PRESENT;
  return { ...value, body: withoutCredentials(value['body']) };
}

/** Checks whether an operation of a JSON patch (RFC 6902) has a value for a credential, or for the whole record. */
function setsCredential(operation: unknown): boolean {
  return isObject(operation) && operation['value'] !== undefined && (isWhole(operation) || isAtCredential(operation));
}

function withoutPatchedCredential(operation: unknown): unknown {
  if (!isObject(operation) || !setsCredential(operation)) return operation;
  const { value } = operation;
  return { ...operation, value: isWhole(operation) ? withoutCredentials(value) : value === null ? null : PRESENT };
}

function isWhole({ path }: Readonly<Record<string, unknown>>): boolean {
  return path === '';
}

function isAtCredential({ path }: Readonly<Record<string, unknown>>): boolean {
  const [, name = ''] = typeof path === 'string' ? path.split('/') : [];
  return CREDENTIALS.has(name);
}
