import { Secret } from '../../client/secret.ts';
import { OAuthError } from '../oauth-error.ts';
import { formDecode, utf8Text } from '../token/parameters.ts';
import type { Parameters } from '../token/parameters.ts';
import { randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { DNS_LABEL, OBJECT_NAME } from '../../../crds/fields.ts';
import type { ServiceAccount } from '../../../crds/client.ts';
import type { RefusalReason } from '../../schemas/refusals.ts';

/** A JWT that authenticates a client (RFC 7523 §2.2). Its content is not verified yet. */
export interface ClientAssertion {
  readonly text: Secret;
  /** Its `sub`. */
  readonly subject: string;
  /** ServiceAccount whose token it is; set if its `sub` is that of a Kubernetes ServiceAccount. */
  readonly serviceAccount: ServiceAccount | undefined;
  /** UUID of the request that carries it. */
  readonly request: string;
}

/** The only type of assertion for clients (RFC 7523 §2.2). */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Signature algorithms of assertions: asymmetric, so that only the client can sign (RFC 7518 §3.1, RFC 8037). */
export const ASSERTION_ALGORITHMS = [
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
  ...['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
] as const;

/**
 * Reads the assertion of a request; undefined when it has none. Throws OAuthError: `invalid_request` when half of it is
 * missing, `invalid_client` when it is not a JWT signed in a permitted way, for any client.
 */
function readAssertion(parameters: Parameters): ClientAssertion | undefined {
  const type = parameters.get('client_assertion_type');
  const text = parameters.get('client_assertion');
  if (type === undefined && text === undefined) return undefined;
  if (type === undefined || text === undefined) {
    throw new OAuthError('invalid_request', 'client_assertion and client_assertion_type belong together');
  }
  if (type !== ASSERTION_TYPE) throw refusedAssertion(`client_assertion_type must be ${ASSERTION_TYPE}`);
  checkHeader(text);
  const subject = subjectOf(text);
  return { text: new Secret(text), subject, serviceAccount: serviceAccountOf(subject), request: randomUUID() };
}

/** Makes the refusal of an assertion, with a description that helps an honest client. */
export function refusedAssertion(description: string, reason: RefusalReason = 'wrong_assertion'): OAuthError {
  return new OAuthError('invalid_client', description, { reason, sent: description });
}

const compact = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Checks only what is the same for every client in the header: the answer does not reveal whose keys exist. */
function checkHeader(text: string): void {
  if (!compact.test(text)) throw notSigned();
  const { alg, typ } = read(() => decodeProtectedHeader(text));
  if (!isAlgorithm(alg)) {
    throw refusedAssertion(`The assertion must be signed with one of ${ASSERTION_ALGORITHMS.join(', ')}`);
  }
  if (typ !== undefined && !isAssertionType(typ)) {
    throw refusedAssertion('The typ of the assertion must be JWT or client-authentication+jwt, or be left out');
  }
}

function isAlgorithm(alg: unknown): boolean {
  return ASSERTION_ALGORITHMS.some((known) => known === alg);
}

/** Checks `typ`: a token made for another purpose does not authenticate a client (RFC 8725 §3.11). */
function isAssertionType(typ: unknown): boolean {
  return typeof typ === 'string' && /^(application\/)?(jwt|client-authentication\+jwt)$/i.test(typ);
}

function subjectOf(text: string): string {
  const { sub } = read(() => decodeJwt(text));
  if (typeof sub === 'string' && sub !== '') return sub;
  throw refusedAssertion('The assertion has no sub (RFC 7523 section 3)');
}

/** Reads a part with jose; a text that jose cannot read is no assertion. */
function read<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw notSigned();
  }
}

function notSigned(): OAuthError {
  return refusedAssertion('client_assertion is not a signed JWT in compact form');
}

const label = new RegExp(DNS_LABEL, 'u');
const objectName = new RegExp(OBJECT_NAME, 'u');

/** Parses `system:serviceaccount:<namespace>:<name>`. No client has such an id, because ids have no colon. */
function serviceAccountOf(subject: string): ServiceAccount | undefined {
  const [system, kind, namespace = '', name = '', ...more] = subject.split(':');
  if (system !== 'system' || kind !== 'serviceaccount') return undefined;
  if (more.length === 0 && isName(namespace, label, 63) && isName(name, objectName, 253)) return { namespace, name };
  throw refusedAssertion('The sub of the assertion names no ServiceAccount');
}

function isName(text: string, pattern: RegExp, longest: number): boolean {
  return text.length <= longest && pattern.test(text);
}

/** Credentials of a client as it sent them (RFC 6749 §2.3.1). A public client sends its id only. */
export interface ClientCredentials {
  readonly id: string;
  /** Possible secrets: as sent, and percent-decoded where that differs. Empty: none was sent. */
  readonly secrets: readonly Secret[];
  /** Other readings of the id: percent-decoded. */
  readonly ids: readonly string[];
  readonly method: 'basic' | 'body' | 'assertion' | 'none';
  /** True for Basic with an empty secret, which only names a public client. Set with the method `none` only. */
  readonly isEmptyBasic?: true;
  /** Set with the method `assertion` only. */
  readonly assertion?: ClientAssertion;
}

/**
 * Reads the client's credentials from the Authorization header or the body. Throws OAuthError `invalid_client` when the
 * header or the assertion is broken or no client is named, `invalid_request` when two ways are used (RFC 6749 §2.3).
 */
export function readClientCredentials(authorization: string | undefined, parameters: Parameters): ClientCredentials {
  const id = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  const sent = [authorization, secret, parameters.get('client_assertion') ?? parameters.get('client_assertion_type')];
  if (sent.filter((way) => way !== undefined).length > 1) {
    throw new OAuthError('invalid_request', 'Use one way to authenticate: header, secret in the body or assertion');
  }
  const assertion = readAssertion(parameters);
  if (assertion !== undefined) return byAssertion(assertion, id);
  if (authorization !== undefined) return byHeader(authorization, id);
  if (id === undefined)
    throw new OAuthError('invalid_client', 'No client is named: send Basic credentials or client_id');
  return secret === undefined
    ? { id, ids: [id], secrets: [], method: 'none' }
    : { id, ids: [id], secrets: [new Secret(secret)], method: 'body' };
}

function byHeader(authorization: string, id: string | undefined): ClientCredentials {
  const basic = parseBasic(authorization);
  if (id === undefined || basic.ids.includes(id)) return basic;
  throw new OAuthError('invalid_request', 'client_id differs from the one in the Authorization header');
}

/** Reads an assertion. A client's own names it (RFC 7521 §4.2); a ServiceAccount may belong to several clients. */
function byAssertion(assertion: ClientAssertion, id: string | undefined): ClientCredentials {
  const { subject, serviceAccount } = assertion;
  if (serviceAccount === undefined) {
    if (id !== undefined && id !== subject) throw refusedAssertion('client_id differs from the sub of the assertion');
    return { id: subject, ids: [subject], secrets: [], method: 'assertion', assertion };
  }
  if (id === undefined) throw refusedAssertion('client_id is missing: the token of a ServiceAccount names no client');
  return { id, ids: [id], secrets: [], method: 'assertion', assertion };
}

/** Returns the id of the client as it is stored: the decoded reading, because ids hold no encoded character. */
export function clientId({ ids, id }: ClientCredentials): string {
  return ids.at(-1) ?? id;
}

const basicShape = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/**
 * Splits at the first colon: a secret may hold more (RFC 7617 §2). Both parts are read as sent and percent-decoded. An
 * empty secret is none (RFC 6749 §2.3.1): clients without a secret may only be able to name themselves by Basic.
 */
export function parseBasic(authorization: string): ClientCredentials {
  const encoded = basicShape.exec(authorization)?.[1];
  if (encoded === undefined) throw broken();
  const bytes = Buffer.from(encoded, 'base64');
  if (!isTextOf(bytes, encoded)) throw broken();
  const text = utf8Text(bytes);
  if (text === undefined || text.includes('\u0000')) throw broken();
  const colon = text.indexOf(':');
  if (colon < 1) throw broken();
  const secret = text.slice(colon + 1);
  const ids = readings(text.slice(0, colon));
  const id = ids[0] ?? '';
  if (secret === '') return { id, ids, secrets: [], method: 'none', isEmptyBasic: true };
  return { id, ids, secrets: readings(secret).map((reading) => new Secret(reading)), method: 'basic' };
}

/** Checks whether a text is the canonical base64 of these bytes, with padding or without (RFC 4648 §3.2, §3.5). */
function isTextOf(bytes: Buffer, base64: string): boolean {
  const text = bytes.toString('base64');
  return text === base64 || text.replace(/=+$/, '') === base64.replace(/=+$/, '');
}

function broken(): OAuthError {
  return new OAuthError('invalid_client', 'The Authorization header is not Basic base64(client_id:client_secret)');
}

/** Returns a text as sent and, if it has a valid escape, decoded once (RFC 6749 §2.3.1; most clients do not encode). */
function readings(text: string): readonly string[] {
  if (!/[%+]/.test(text)) return [text];
  try {
    const decoded = formDecode(text);
    return decoded === text ? [text] : [text, decoded];
  } catch {
    return [text];
  }
}
