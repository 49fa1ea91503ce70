import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';

/** The type of every assertion that authenticates a client (RFC 7523 §2.2). */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A key pair of a client, or of a cluster. */
export interface Signer {
  readonly alg: string;
  readonly privateKey: CryptoKey;
  /** With `kid` and `alg`. */
  readonly publicJwk: JWK;
}

/** Makes a key pair for an algorithm of RFC 7518 or RFC 8037. */
export async function makeSigner(alg: string, kid: string = alg): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

/** Claims and header of an assertion; undefined ones are left out. */
export interface AssertionParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** An assertion of a client as RFC 7523 §3 has it, good for a minute, with what the test changes. */
export function assertion(
  by: Signer,
  client: string,
  audience: string,
  { claims = {}, header = {} }: AssertionParts = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: client, sub: client, aud: audience, iat: now, exp: now + 60, jti: randomUUID(), ...claims };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: by.alg, kid: by.publicJwk.kid ?? by.alg, ...header })
    .sign(by.privateKey);
}

/** The fields of a request that carries an assertion. */
export function proof(text: string): { client_assertion_type: string; client_assertion: string } {
  return { client_assertion_type: assertionType, client_assertion: text };
}
