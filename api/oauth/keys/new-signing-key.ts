import { generateKeyPair } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { KeySealing } from '../../credentials/key-sealing.ts';
import type { NewSigningKey } from '../../db/client-auth/signing-key.ts';
import { sealedFor } from '../../state/key-ring.ts';
import type { SigningAlgorithm } from '../../state/key-ring.ts';

/** Both parts of a key, in memory. */
export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generate = promisify(generateKeyPair);

/** RSA has 3072 bits: 2048 are below 128 bits of security (OWASP ASVS 5.0 §11.2.3). */
const generators = {
  ES256: () => generate('ec', { namedCurve: 'P-256' }),
  RS256: () => generate('rsa', { modulusLength: 3072 }),
  EdDSA: () => generate('ed25519'),
} as const satisfies Record<SigningAlgorithm, () => Promise<KeyPair>>;

/** Makes a key pair; one of RSA takes a second. */
export function generateSigningKey(algorithm: SigningAlgorithm): Promise<KeyPair> {
  return generators[algorithm]();
}

/** Returns a pair as its row holds it, the private part sealed for the box; its id is its thumbprint (RFC 7638). */
export async function newSigningKey(
  box: string,
  { publicKey, privateKey }: KeyPair,
  life: Pick<NewSigningKey, 'algorithm' | 'activeFrom' | 'signedUntil'>,
  sealing: KeySealing,
): Promise<NewSigningKey> {
  const { algorithm, activeFrom, signedUntil } = life;
  const kid = await calculateJwkThumbprint(publicKey);
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    box,
    kid,
    algorithm,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' },
    privateKey: sealing.seal(plain, sealedFor(box, kid)),
    activeFrom,
    signedUntil,
  };
}
