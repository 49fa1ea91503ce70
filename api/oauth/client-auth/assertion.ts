import { randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Secret } from '../../client/secret.ts';
import { DNS_LABEL, OBJECT_NAME } from '../../../crds/fields.ts';
import type { ServiceAccount } from '../../../crds/client.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Parameters } from '../token/parameters.ts';

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
export function readAssertion(parameters: Parameters): ClientAssertion | undefined {
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
export function refusedAssertion(description: string): OAuthError {
  return new OAuthError('invalid_client', description);
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
