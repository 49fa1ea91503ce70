import { isAscii } from 'node:buffer';
import { Ajv } from 'ajv';
import { Problem } from '../../problem.ts';
import { readJson } from '../../read-json.ts';
import { OAuthError } from '../oauth-error.ts';

/** Parameters of a request to an OAuth endpoint: each at most once, empty ones treated as omitted (RFC 6749 §3.2). */
export type Parameters = ReadonlyMap<string, string>;

const form = 'application/x-www-form-urlencoded';

/** Reads a body by its content type, form or JSON. Throws OAuthError `invalid_request` when it is neither or broken. */
export function parseParameters(contentType: string | undefined, body: Buffer): Parameters {
  const isForm = contentType === form || isFormType(contentType, body);
  const text = utf8Text(body);
  if (text === undefined) throw new OAuthError('invalid_request', 'The body is not UTF-8');
  const fields = isForm ? allOfForm(text) : undefined;
  const value = validated(fields === undefined ? readObject(text) : Object.fromEntries(fields));
  return withoutEmpty(fields ?? stringsOf(value));
}

/** Returns true for a form, false for JSON. Throws OAuthError for any other type or charset. */
function isFormType(contentType: string | undefined, body: Buffer): boolean {
  const [type = '', ...options] = (contentType ?? '').toLowerCase().split(';');
  const charsets = options.filter((option) => option.includes('charset'));
  if (type.trim() === form) {
    // A form is ASCII, and its escapes are UTF-8, whatever its charset (RFC 6749 Appendix B).
    if (charsets.every((option) => utf8.test(option) || (isAscii(body) && extendsAscii.test(option)))) return true;
  } else if (type.trim() === 'application/json' && charsets.every((option) => utf8.test(option))) return false;
  throw new OAuthError('invalid_request', `Content-Type must be ${form} or application/json, in UTF-8`, {
    status: 415,
  });
}

const utf8 = /charset="?utf-?8"?\s*$/;

/** Charsets in which ASCII means itself; in others, such as UTF-7, it does not. */
const extendsAscii = /^\s*charset="?(?:utf-?8|(?:us-)?ascii|latin-?1|iso-8859-\d{1,2}|windows-125\d)"?\s*$/;

/** Reads parameters of a query, even empty ones. Throws OAuthError `invalid_request` for repeated or broken ones. */
export function allOfForm(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = formDecode(equals < 0 ? pair : pair.slice(0, equals));
    add(parameters, name, equals < 0 ? '' : formDecode(pair.slice(equals + 1)));
  }
  return parameters;
}

const plain = /^[A-Za-z0-9._~*-]*$/;

/** Decodes one name or value of a form (RFC 6749 Appendix B). Throws OAuthError when it is not UTF-8 or holds NUL. */
export function formDecode(text: string): string {
  if (plain.test(text)) return text;
  try {
    return checked(decodeURIComponent(text.replaceAll('+', ' ')));
  } catch (error) {
    if (error instanceof OAuthError) throw error;
    throw new OAuthError('invalid_request', 'The body is not a well-formed UTF-8 form');
  }
}

/** Refuses NUL, which Postgres cannot store, and half of a surrogate pair, which would make different strings equal. */
function checked(text: string): string {
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw new OAuthError('invalid_request', 'A parameter holds a character that is not allowed');
  }
  return text;
}

/** Most parameters of a form, a query or a JSON body. */
const MOST_PARAMETERS = 1_000;

function add(parameters: Map<string, string>, name: string, value: string): void {
  if (parameters.size === MOST_PARAMETERS) {
    throw new OAuthError('invalid_request', `There are more than ${String(MOST_PARAMETERS)} parameters`);
  }
  if (parameters.has(name) && name === 'resource')
    throw new OAuthError('invalid_target', 'resource is given more than once: a token is for one (RFC 8707 section 2)');
  if (parameters.has(name))
    throw new OAuthError('invalid_request', `Parameter ${printable(name)} is repeated: send it once`);
  parameters.set(name, value);
}

function printable(name: string): string {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? name : '(unreadable name)';
}

/** Removes empty parameters: they are treated as omitted (RFC 6749 §3.1, §3.2). */
export function withoutEmpty(parameters: Map<string, string>): Parameters {
  for (const [name, value] of parameters) if (value === '') parameters.delete(name);
  return parameters;
}

/** Checks whether a parameter has a meaning at one of the OAuth endpoints. */
export function isParameter(name: string): boolean {
  return Object.hasOwn(known.properties, name);
}

/** Parameters of the token endpoint, of all its grants; the OpenAPI document lists them from here. */
export const TOKEN_PARAMETERS: readonly string[] = [
  ...['grant_type', 'client_id', 'client_secret', 'scope', 'audience', 'resource', 'refresh_token', 'code'],
  ...['redirect_uri', 'code_verifier', 'username', 'password', 'client_assertion_type', 'client_assertion'],
];

/** Returns the schema of a body with these parameters: each is a string (RFC 6749 Appendix A). */
export function parametersSchema(names: readonly string[]) {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
}

const known = parametersSchema([...TOKEN_PARAMETERS, 'token', 'token_type_hint']);
const matches = new Ajv({ validateSchema: false, verbose: true, ownProperties: true }).compile<Record<string, unknown>>(
  known,
);

/** Returns a body that has the schema. Throws OAuthError `invalid_request`. */
function validated(value: unknown): Record<string, unknown> {
  if (matches(value)) return value;
  const [{ instancePath } = { instancePath: '' }] = matches.errors ?? [];
  const what = instancePath === '' ? 'The body must be a JSON object' : `${instancePath.slice(1)} must be a string`;
  throw new OAuthError('invalid_request', what);
}

/** Returns the strings of an object. A parameter that no endpoint knows may have any type, because it is ignored. */
function stringsOf(value: Record<string, unknown>): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string') add(parameters, name, checked(member));
  }
  return parameters;
}

/** Reads JSON. A proxy in front may have read another one of two equal names (RFC 8259 §4): they are refused. */
function readObject(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof Problem) throw new OAuthError('invalid_request', error.message);
    throw error;
  }
}

/** Returns the text of bytes in UTF-8; undefined if malformed. ASCII, as in nearly every request, costs least. */
export function utf8Text(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
