import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';
import type { KeySealing } from '../credentials/key-sealing.ts';
import type { SigningKeyRow } from '../db/box/config-changes.ts';
import type { Connections } from '../db/core/pool.ts';
import { newestSigningKey } from '../db/client-auth/signing-key.ts';

/** The signature algorithms of a box (RFC 7518 §3.1, RFC 8037). */
export type SigningAlgorithm = SigningKeyRow['algorithm'];

/** A signing key as a replica holds it; times in milliseconds since 1970. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly activeFrom: number;
  readonly retiredAt: number | undefined;
  readonly signedUntil: number;
  /** The public key as in the JWKS document: never the private part. */
  readonly publicJwk: JsonWebKey;
  readonly publicKey: KeyObject;
  /** Opens the key on first use; throws if it was not sealed with the installation's key. */
  privateKey(): KeyObject;
}

/** The keys of a box. */
export interface KeyRing {
  /** All published keys, oldest first. */
  readonly all: readonly SigningKey[];
  find(kid: string): SigningKey | undefined;
  /** Returns the key that signs now; undefined if the box has none of that algorithm. `now` in milliseconds. */
  signing(algorithm: SigningAlgorithm, now: number): SigningKey | undefined;
}

/** Returns the text that a key's sealed bytes are bound to. */
export function sealedFor(box: string, kid: string): string {
  return `boxgate signing key ${box}/${kid}`;
}

/** Creates the key ring of a box from its rows. */
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
 * Selects, from the keys of one algorithm, oldest first, the one that signs at `now` (milliseconds). A key that is
 * published but not due is used if there is no other: the clock of the replica that created it may be ahead of ours.
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

/** Reads our own column; throws a TypeError for a broken row. */
function jwkOf(value: unknown): JsonWebKey {
  if (typeof value !== 'object' || value === null) throw new TypeError('a signing key without its public part');
  return { ...value };
}

/**
 * Opens the newest signing key of the database, if it has one: with a wrong BOXGATE_ENCRYPTION_KEY no JWT could be
 * signed. Throws an Error of one sentence, or Outage if Postgres cannot answer.
 */
export async function checkSealing(pool: Connections, sealing: KeySealing): Promise<void> {
  const key = await newestSigningKey(pool);
  if (key === undefined) return;
  try {
    sealing.open(key.privateKey, sealedFor(key.box, key.kid)).fill(0);
  } catch (cause) {
    throw new Error('BOXGATE_ENCRYPTION_KEY holds no key that opens the signing keys of this database', { cause });
  }
}
