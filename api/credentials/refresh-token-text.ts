import { hash, hkdfSync } from 'node:crypto';
import { open, seal } from './key-sealing.ts';
import { checkedBytes, checkedText, randomPart } from './token-text.ts';

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

/** The byte of the family's secret whose last bit is a flag: it costs no column. */
const flagAt = 15;

/** Creates the first token of a family. */
export function firstRefreshToken(family: string, isOfDefaultScope = false): RefreshToken {
  const familySecret = randomPart(16);
  familySecret.writeUInt8((familySecret.readUInt8(flagAt) & 0xfe) | Number(isOfDefaultScope), flagAt);
  return { family, generation: 0, familySecret, tokenSecret: randomPart(32) };
}

/** Checks whether no scope was requested for a family: then it has the default one, and no id_token was asked for. */
export function hasDefaultScope({ familySecret }: RefreshToken): boolean {
  return (familySecret.readUInt8(flagAt) & 1) !== 0;
}

/** Creates the token that follows another one in its family. */
export function nextRefreshToken(token: RefreshToken): RefreshToken {
  return { ...token, generation: token.generation + 1, tokenSecret: randomPart(32) };
}

/** Returns the text: `bgr_` + base64url of family, generation, both secrets and a CRC-32. */
export function refreshTokenText(token: RefreshToken): string {
  const bytes = Buffer.allocUnsafe(checksumAt + 4);
  bytes.write(token.family, 0, 'hex');
  bytes.writeUInt32BE(token.generation, 16);
  token.familySecret.copy(bytes, 20);
  token.tokenSecret.copy(bytes, 36);
  return checkedText(prefix, bytes);
}

/** Reads a refresh token; undefined when it cannot be one of ours. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const bytes = shape.test(text) ? checkedBytes(prefix, text) : undefined;
  if (bytes === undefined) return undefined;
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
 * the database reveals nothing (key by HKDF from the previous token).
 */
export function sealSuccessor(successor: RefreshToken, before: RefreshToken): Buffer {
  return seal(sealingKey(before), successor.tokenSecret);
}

/** Opens the result of {@link sealSuccessor}; throws if it is not the token's own successor. */
export function openSuccessor(sealed: Buffer, before: RefreshToken): RefreshToken {
  return { ...before, generation: before.generation + 1, tokenSecret: open(sealingKey(before), sealed) };
}

function sealingKey(token: RefreshToken): Buffer {
  return Buffer.from(hkdfSync('sha256', token.tokenSecret, token.familySecret, 'boxgate refresh successor', 32));
}
