import { isList, isObject } from '../../crds/json-value.ts';

/** Text that policies see instead of a password or secret in a body: only that one is given. */
export const PRESENT = '[present]';

/**
 * Returns a body with {@link PRESENT} in place of each password and secret. These are members of the record, of a merge
 * patch, of a JSON patch's values, or of the request that `$explain` is about. Another body is returned as is.
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

/** Checks whether a member is a credential with a value. `null` is none: it removes a secret. */
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
