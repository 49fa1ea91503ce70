import { sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { OAuthError } from '../oauth-error.ts';
import type { SigningAlgorithm, SigningKey } from '../../box/key-ring.ts';

/** Type of a JWT of ours: an access token (RFC 9068 §2.1) or an id_token. Neither is accepted as the other. */
export type JwtType = 'at+jwt' | 'JWT';

/** Characters of the longest JWT: request headers and bodies have room for it. */
export const LONGEST_JWT = 16_384;
/** Characters of the longest signature: RSA with 4096 bits. */
const LONGEST_SIGNATURE = 684;

/**
 * Signs a JWT (RFC 7519 §7.1). Throws OAuthError `invalid_scope` for a token that is too large. node's own `sign` makes
 * the signature: a third of the time that WebCrypto takes (measured); jose verifies every kind of token in the tests.
 */
export function signJwt(type: JwtType, claims: object, key: SigningKey): string {
  const text = signedText(type, claims, key);
  return `${text}.${signers[key.algorithm](Buffer.from(text), key.privateKey()).toString('base64url')}`;
}

/**
 * Prepares a JWT, which is signed as {@link signJwt} does, on another thread where that pays: a signature of RSA takes
 * 0.7 ms, in which this one would serve nobody. One of ES256 takes 23 µs, and more than twice as much on another thread
 * (measured). Throws OAuthError `invalid_scope` for a token that is too large.
 */
export function prepareJwt(type: JwtType, claims: object, key: SigningKey): () => Promise<string> {
  const text = signedText(type, claims, key);
  return async () => {
    const bytes = Buffer.from(text);
    const { algorithm } = key;
    const signature =
      algorithm === 'RS256'
        ? await signOnThread('sha256', bytes, key.privateKey())
        : signers[algorithm](bytes, key.privateKey());
    return `${text}.${signature.toString('base64url')}`;
  };
}

const signOnThread = promisify<string, Buffer, KeyObject, Buffer>(sign);

function signedText(type: JwtType, claims: object, key: SigningKey): string {
  const text = `${headerOf(type, key)}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  if (text.length + LONGEST_SIGNATURE > LONGEST_JWT) throw tooLarge();
  return text;
}

/** A token that is not issued: every request that presents it would be refused (RFC 6749 §5.2, `invalid_scope`). */
function tooLarge(): OAuthError {
  const remedy = 'Request fewer scopes, such as without groups, or take the user out of some groups';
  const message = `The token would have more than ${String(LONGEST_JWT)} characters. ${remedy}`;
  return new OAuthError('invalid_scope', message, { reason: 'token_too_large' });
}

function headerOf(type: JwtType, key: SigningKey): string {
  return Buffer.from(JSON.stringify({ alg: key.algorithm, typ: type, kid: key.kid })).toString('base64url');
}

/** RFC 7518 §3.3 and §3.4, RFC 8037 §3.1. */
const signers = {
  ES256: (data, key) => rawSignature(sign('sha256', data, key)),
  RS256: (data, key) => sign('sha256', data, key),
  EdDSA: (data, key) => sign(null, data, key),
} as const satisfies Record<SigningAlgorithm, (data: Buffer, key: KeyObject) => Buffer>;

/** Bytes of R and of S in a signature on P-256. */
const half = 32;

/**
 * Converts an ECDSA signature on P-256 to the form of JWS (RFC 7518 §3.4: R followed by S, 64 bytes) from the DER form
 * (RFC 3279 §2.2.3: `30 n 02 r R 02 s S`) that node signs in. If node itself makes the form of JWS, it takes twice the
 * time (measured, Node 24: 50 µs, against 23 µs for a bare key object).
 */
export function rawSignature(der: Uint8Array): Buffer {
  const raw = Buffer.alloc(2 * half);
  const lengthOfR = der[3] ?? 0;
  const endOfR = 4 + lengthOfR;
  put(der.subarray(4, endOfR), raw, half);
  put(der.subarray(endOfR + 2), raw, 2 * half);
  return raw;
}

/** Puts an integer so that it ends at `end`: DER leads with a zero where the first bit is set, and leaves zeros out. */
function put(integer: Uint8Array, raw: Buffer, end: number): void {
  const digits = integer.length > half ? integer.subarray(-half) : integer;
  raw.set(digits, end - digits.length);
}
