import { sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { rawSignature } from './raw-signature.ts';
import type { SigningAlgorithm, SigningKey } from '../../state/key-ring.ts';

/** Type of a JWT of ours: an access token (RFC 9068 §2.1) or an id_token. Neither is accepted as the other. */
export type JwtType = 'at+jwt' | 'JWT';

/**
 * Signs a JWT (RFC 7519 §7.1). node's own `sign` makes the signature: a third of the time that WebCrypto takes
 * (measured); jose verifies every kind of token in the tests.
 */
export function signJwt(type: JwtType, claims: object, key: SigningKey): string {
  const signed = `${headerOf(type, key)}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${signers[key.algorithm](Buffer.from(signed), key.privateKey()).toString('base64url')}`;
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
