import type { JsonObject } from '../../crds/path.ts';
import { isList, isObject } from '../../crds/path.ts';

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

/** Version of {@link RequestObject}: increases when a field is removed or changes its meaning, not for new fields. */
export const REQUEST_OBJECT_VERSION = 3;

/**
 * View of a request that every engine gets (docs/reference/policy-engines.md). A part that a request does not have is
 * absent, never null: a client's own request has no `user`, a request without a token has neither `client` nor
 * `session`.
 */
export interface RequestObject {
  /** Lower case: `get`, `post`. */
  readonly 'request-method': string;
  /** Path below the box's base URL, without the query: `/Client/x`. */
  readonly uri: string;
  /** Parameters of the query; a repeated one is an array. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Address of the caller; absent at the decision point for gateways if no trusted proxy has told it. */
  readonly 'remote-addr'?: string;
  /** Id of the box. */
  readonly box: string;
  /** Time of the request: whole seconds since 1970, as in the claims of a token (NumericDate, RFC 7519 §2). */
  readonly time: number;
  /** The parsed body; of a password or secret only its presence is shown ({@link withoutCredentials}). */
  readonly body?: unknown;
  /** Sorted names of the fields of the stored record that the request changes; only for its POST, PUT or PATCH. */
  readonly changes?: readonly string[];
  /** The resource that the path addresses; no `id` where a whole type is addressed. */
  readonly resource?: JsonObject;
  /** The client of the token, as it is read over REST. */
  readonly client?: JsonObject;
  /** The user of the token, with `groups`, `group-ids` and `data` (the JSON value, not its text). */
  readonly user?: JsonObject;
  /** The session of the token, as it is read over REST. */
  readonly session?: JsonObject;
  /** The claims of the token; `aud` is always a list. */
  readonly token?: JsonObject;
}

/** Parts of a request as the edge knows them; {@link requestObject} removes the credentials. */
export interface RequestParts {
  readonly method: string;
  readonly uri: string;
  readonly params?: JsonObject | undefined;
  readonly headers?: JsonObject | undefined;
  readonly remoteAddr: string | undefined;
  readonly box: string;
  /** Whole seconds since 1970. */
  readonly time: number;
  readonly body?: unknown;
  readonly changes?: readonly string[] | undefined;
  readonly resource?: JsonObject | undefined;
  readonly client?: JsonObject | undefined;
  readonly user?: JsonObject | undefined;
  readonly session?: JsonObject | undefined;
  readonly token?: JsonObject | undefined;
}

/** Returns the request object of a request: pure, copies nothing deep, and leaves out all credentials. */
export function requestObject(parts: RequestParts): RequestObject {
  const { body, changes, resource, client, user, session, token } = parts;
  return {
    'request-method': parts.method.toLowerCase(),
    uri: withoutQuery(parts.uri),
    params: given(parts.params ?? {}, isCredentialParameter),
    headers: given(parts.headers ?? {}, isCredentialHeader),
    ...(parts.remoteAddr !== undefined && { 'remote-addr': parts.remoteAddr }),
    box: parts.box,
    time: parts.time,
    ...(body !== undefined && { body: withoutCredentials(body) }),
    ...(changes && { changes }),
    ...(resource && { resource: given(resource) }),
    ...(client && { client: given(client, isSecretField) }),
    ...(user && { user: given(user, isSecretField) }),
    ...(session && { session: given(session) }),
    ...(token && { token: given(token) }),
  };
}

/** Removes the query, which may hold `access_token`; its other parameters are in `params`. */
function withoutQuery(uri: string): string {
  const end = uri.search(/[?#]/);
  return end === -1 ? uri : uri.slice(0, end);
}

/** Returns the fields that have a value, without those to leave out: the object itself if that is all of it. */
function given(fields: JsonObject, isLeftOut: (name: string) => boolean = () => false): JsonObject {
  const isGiven = (name: string): boolean => fields[name] !== undefined && !isLeftOut(name);
  const names = Object.keys(fields);
  return names.every(isGiven) ? fields : Object.fromEntries(names.filter(isGiven).map((name) => [name, fields[name]]));
}

const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie']);
const SECRET_FIELDS: ReadonlySet<string> = new Set(['secret', 'password']);

function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADERS.has(name.toLowerCase());
}

/** RFC 6750 §2.3. */
function isCredentialParameter(name: string): boolean {
  return name === 'access_token';
}

function isSecretField(name: string): boolean {
  return SECRET_FIELDS.has(name);
}
