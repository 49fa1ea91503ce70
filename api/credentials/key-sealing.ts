import { createCipheriv, createDecipheriv, hkdfSync, createHmac } from 'node:crypto';
import { randomPart } from './token-text.ts';

/** Seals private keys at rest under the installation's key (AES-256-GCM), each bound to its owner. */
export interface KeySealing {
  seal(plain: Buffer, belongsTo: string): Buffer;
  /** Throws an Error if the sealed bytes belong to another key or were changed, or the installation's key differs. */
  open(sealed: Buffer, belongsTo: string): Buffer;
}

const nonceLength = 12;
const tagLength = 16;

/** Creates sealing under the first of `keys` (32 bytes each); older ones still open, so that keys can be changed. */
export function createKeySealing(keys: readonly [Buffer, ...Buffer[]]): KeySealing {
  return {
    seal: (plain, belongsTo) => seal(keys[0], plain, belongsTo),
    open: (sealed, belongsTo) => openWithAny(keys, sealed, belongsTo),
  };
}

/** Seals bytes with AES-256-GCM: nonce, tag and ciphertext. */
export function seal(key: Buffer, plain: Buffer, belongsTo = ''): Buffer {
  const nonce = randomPart(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(belongsTo, 'utf8'));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function openWithAny(keys: readonly Buffer[], sealed: Buffer, belongsTo: string): Buffer {
  for (const key of keys) {
    try {
      return open(key, sealed, belongsTo);
    } catch {
      // Sealed under another of the keys: the next one is tried.
    }
  }
  throw new Error('a signing key cannot be opened: BOXGATE_ENCRYPTION_KEY is not the key it was sealed with');
}

/** Opens the result of {@link seal}. Throws an Error if the key or the owner is another one, or a byte was changed. */
export function open(key: Buffer, sealed: Buffer, belongsTo = ''): Buffer {
  const nonce = sealed.subarray(0, nonceLength);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength });
  decipher.setAAD(Buffer.from(belongsTo, 'utf8'));
  decipher.setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
}

/** Derives 32 bytes for one purpose from a key of the installation (HKDF, RFC 5869): they reveal nothing of the key. */
export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `boxgate ${purpose}`, 32));
}

/** Returns the slot in which failures at something are counted: 5 hexadecimal digits of a keyed hash of its parts. */
export type FailureSlot = (...parts: readonly string[]) => string;

/**
 * Creates slots under a key of the installation. There are about a million in each box, so that guesses at accounts
 * that do not exist cannot fill the database. Without the key nobody can choose two accounts of one slot, or learn an
 * email from it.
 */
export function createFailureSlot(installationKey: Buffer): FailureSlot {
  const key = deriveKey(installationKey, 'failure slot');
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex').slice(0, 5);
}
