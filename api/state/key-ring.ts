import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';
import type { KeySealing } from '../credentials/key-sealing.ts';
import type { SigningKeyRow } from '../db/config-changes.ts';

/** The signature algorithms of a box (RFC 7518 §3.1, RFC 8037). */
export type SigningAlgorithm = SigningKeyRow['algorithm'];

/** A signing key as a replica holds it; times in milliseconds since 1970. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly activeFrom: number;
  readonly retiredAt: number | undefined;
  readonly signedUntil: number;
  /** As the JWKS document shows it: never the private part. */
  readonly publicJwk: JsonWebKey;
  readonly publicKey: KeyObject;
  /** Opened when first used; throws when the installation's key is not the one it was sealed with. */
  privateKey(): KeyObject;
}

/** The keys of a box. */
export interface KeyRing {
  /** All that are published, oldest first. */
  readonly all: readonly SigningKey[];
  find(kid: string): SigningKey | undefined;
  /** The key that signs now; undefined when the box has none of that algorithm. `now` in milliseconds. */
  signing(algorithm: SigningAlgorithm, now: number): SigningKey | undefined;
}

/** What a key's sealed bytes are bound to. */
export function sealedFor(box: string, kid: string): string {
  return `boxgate signing key ${box}/${kid}`;
}

/** The key ring of a box from its rows. */
export function createKeyRing(rows: readonly SigningKeyRow[], sealing: KeySealing, box: string): KeyRing {
  const all = rows.map((row) => openKey(row, sealing, box));
  return {
    all,
    find: (kid) => all.find((key) => key.kid === kid),
    signing: (algorithm, now) =>
      signingKey(
        all.filter((key) => key.algorithm === algorithm),
        now,
      ),
  };
}

/**
 * Of the keys of one algorithm, oldest first, the one that signs at `now` (milliseconds). One that is published but not
 * due serves where there is no other: the clock of the replica that made it may be ahead of ours.
 */
export function signingKey<Key extends Pick<SigningKey, 'activeFrom' | 'retiredAt'>>(
  keys: readonly Key[],
  now: number,
): Key | undefined {
  const due = keys.findLast((key) => key.activeFrom <= now && (key.retiredAt === undefined || now < key.retiredAt));
  return due ?? keys.findLast((key) => key.retiredAt === undefined);
}

function openKey(row: SigningKeyRow, sealing: KeySealing, box: string): SigningKey {
  const publicJwk = jwkOf(row.publicJwk);
  let opened: KeyObject | undefined;
  return {
    kid: row.kid,
    algorithm: row.algorithm,
    activeFrom: row.activeFrom,
    retiredAt: row.retiredAt,
    signedUntil: row.signedUntil,
    publicJwk,
    publicKey: createPublicKey({ key: publicJwk, format: 'jwk' }),
    privateKey() {
      opened ??= createPrivateKey({
        key: sealing.open(row.privateKey, sealedFor(box, row.kid)),
        format: 'der',
        type: 'pkcs8',
      });
      return opened;
    },
  };
}

/** Our own column: an object, or the row is broken. */
function jwkOf(value: unknown): JsonWebKey {
  if (typeof value !== 'object' || value === null) throw new TypeError('a signing key without its public part');
  return { ...value };
}
