import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fillRandom, isWhole } from './token-text.ts';

/**
 * A refresh token in its parts. All tokens of a family share `familySecret`, which distinguishes an old one from a
 * guess; each generation has its own `tokenSecret`.
 */
export interface RefreshToken {
  /** The family's UUID, 32 hexadecimal digits. */
  readonly family: string;
  readonly generation: number;
  readonly familySecret: Buffer;
  readonly tokenSecret: Buffer;
}

const prefix = 'bgr_';
const checksumAt = 16 + 4 + 16 + 32;
const shape = /^bgr_[A-Za-z0-9_-]{96}$/;
const nonceLength = 12;
const tagLength = 16;

/** Creates the first token of a family. */
export function firstRefreshToken(family: string): RefreshToken {
  return { family, generation: 0, familySecret: randomPart(16), tokenSecret: randomPart(32) };
}

/** Creates the token that follows another one in its family. */
export function nextRefreshToken(token: RefreshToken): RefreshToken {
  return { ...token, generation: token.generation + 1, tokenSecret: randomPart(32) };
}

function randomPart(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  fillRandom(bytes, 0, length);
  return bytes;
}

/** Returns the text: `bgr_` + base64url of family, generation, both secrets and a CRC-32. */
export function refreshTokenText(token: RefreshToken): string {
  const bytes = Buffer.allocUnsafe(checksumAt + 4);
  bytes.write(token.family, 0, 'hex');
  bytes.writeUInt32BE(token.generation, 16);
  token.familySecret.copy(bytes, 20);
  token.tokenSecret.copy(bytes, 36);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, checksumAt)), checksumAt);
  return prefix + bytes.toString('base64url');
}

/** Reads a refresh token; undefined when it cannot be one of ours. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  if (!shape.test(text)) return undefined;
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  if (!isWhole(bytes, checksumAt, text.slice(prefix.length))) return undefined;
  return {
    family: bytes.toString('hex', 0, 16),
    generation: bytes.readUInt32BE(16),
    familySecret: bytes.subarray(20, 36),
    tokenSecret: bytes.subarray(36, 68),
  };
}

/** Returns the SHA-256 of the part that the whole family shares, hexadecimal. */
export function familyHash(token: RefreshToken): string {
  return hash('sha256', token.familySecret, 'hex');
}

/** Returns the SHA-256 of the part of this one token, hexadecimal. */
export function tokenHash(token: RefreshToken): string {
  return hash('sha256', token.tokenSecret, 'hex');
}

/**
 * Seals a successor so that only the holder of the previous token can read it: a lost answer can be repeated, a dump of
 * the database reveals nothing (AES-256-GCM, key by HKDF from the previous token).
 */
export function sealSuccessor(successor: RefreshToken, before: RefreshToken): Buffer {
  const nonce = randomPart(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(before), nonce);
  const sealed = Buffer.concat([cipher.update(successor.tokenSecret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Opens the result of {@link sealSuccessor}; throws if it is not the token's own successor. */
export function openSuccessor(sealed: Buffer, before: RefreshToken): RefreshToken {
  const nonce = sealed.subarray(0, nonceLength);
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(before), nonce, { authTagLength: tagLength });
  decipher.setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
  const tokenSecret = Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
  return { ...before, generation: before.generation + 1, tokenSecret };
}

function sealingKey(token: RefreshToken): Buffer {
  return Buffer.from(hkdfSync('sha256', token.tokenSecret, token.familySecret, 'boxgate refresh successor', 32));
}
