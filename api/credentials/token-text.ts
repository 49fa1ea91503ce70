import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { bucketDistance } from '../db/session/bucket.ts';

/** One call to the system's generator serves many requests (measured: one each costs more than the rest of a token). */
const block = Buffer.allocUnsafe(16_384);
let used = block.length;

/** Copies `length` (at most 256) fresh random bytes into `target` at `offset`; used bytes are wiped from the block. */
export function fillRandom(target: Buffer, offset: number, length: number): void {
  if (used + length > block.length) {
    randomFillSync(block);
    used = 0;
  }
  block.copy(target, offset, used, used + length);
  block.fill(0, used, used + length);
  used += length;
}

/** Returns `length` (at most 256) fresh random bytes. */
export function randomPart(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  fillRandom(bytes, 0, length);
  return bytes;
}

/** Writes a UUIDv7 (RFC 9562 §5.7) into `target` at `offset`; `time` in milliseconds since 1970. */
export function fillUuidV7(target: Buffer, offset: number, time: number): void {
  fillRandom(target, offset + 6, 10);
  target.writeUIntBE(time, offset, 6);
  target.writeUInt8((target.readUInt8(offset + 6) & 0x0f) | 0x70, offset + 6);
  target.writeUInt8((target.readUInt8(offset + 8) & 0x3f) | 0x80, offset + 8);
}

/** A new opaque access token: its text, and the parts that the session's row stores. */
export interface NewAccessToken {
  readonly text: string;
  /** The session's UUIDv7, 32 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the random part, 64 hexadecimal digits. */
  readonly hash: string;
}

/** Parts of an opaque access token. */
export interface AccessTokenParts {
  readonly bucket: number;
  readonly id: string;
  readonly hash: string;
}

const prefix = 'bgt_';
const idAt = 4;
const secretAt = 20;
const checksumAt = 52;
const length = 56;
/** December of the year 9999: anybody can forge a valid checksum, and Postgres refuses numbers beyond its own. */
const lastBucket = 1_000_000 + 9_999 * 12 + 11;
/** 56 bytes in base64url, whose last character carries only four bits. */
const shape = /^bgt_[A-Za-z0-9_-]{75}$/;

/**
 * Creates an opaque access token: `bgt_` + base64url of bucket (4 bytes), UUIDv7 (16), 256 random bits (32) and CRC-32
 * (4), so that a check needs one partition and its primary key, and secret scanners recognize it. `now` in
 * milliseconds.
 */
export function makeAccessToken(bucket: number, now: number): NewAccessToken {
  const bytes = Buffer.allocUnsafe(length);
  bytes.writeUInt32BE(bucket, 0);
  fillSessionId(bytes, idAt, bucket, now);
  fillRandom(bytes, secretAt, checksumAt - secretAt);
  return { text: checkedText(prefix, bytes), ...partsOf(bytes) };
}

/** Reads an opaque access token; undefined when it cannot be one of ours, which then costs no SQL. */
export function parseAccessToken(text: string): AccessTokenParts | undefined {
  const bytes = shape.test(text) ? checkedBytes(prefix, text) : undefined;
  if (bytes === undefined) return undefined;
  const bucket = bytes.readUInt32BE(0);
  return bucket > lastBucket ? undefined : { bucket, ...partsOf(bytes) };
}

function partsOf(bytes: Buffer): Omit<AccessTokenParts, 'bucket'> {
  return {
    id: bytes.toString('hex', idAt, secretAt),
    hash: hash('sha256', bytes.subarray(secretAt, checksumAt), 'hex'),
  };
}

/** Returns the text of bytes, whose last four become the CRC-32 of the others: a prefix and base64url. */
export function checkedText(prefix: string, bytes: Buffer): string {
  const checksumAt = bytes.length - 4;
  bytes.writeUInt32BE(crc32(bytes.subarray(0, checksumAt)), checksumAt);
  return prefix + bytes.toString('base64url');
}

/**
 * Returns the bytes of such a text; undefined if the checksum is wrong, or another text is that of these bytes
 * (base64url has spare bits).
 */
export function checkedBytes(prefix: string, text: string): Buffer | undefined {
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  const checksumAt = bytes.length - 4;
  const isRight = bytes.readUInt32BE(checksumAt) === crc32(bytes.subarray(0, checksumAt));
  return isRight && prefix + bytes.toString('base64url') === text ? bytes : undefined;
}

/** Creates a session id for a token without a random part (a JWT): 32 hexadecimal digits. `now` in milliseconds. */
export function makeSessionId(bucket: number, now: number): string {
  const bytes = Buffer.allocUnsafe(16);
  fillSessionId(bytes, 0, bucket, now);
  return bytes.toString('hex', 0, 16);
}

/** Writes a UUIDv7 whose `rand_a` (RFC 9562 §5.7) is the distance of its bucket: 62 random bits remain. */
function fillSessionId(target: Buffer, offset: number, bucket: number, now: number): void {
  fillUuidV7(target, offset, now);
  target.writeUInt16BE(0x7000 | (bucketDistance(bucket, Math.floor(now / 1000)) & 0xfff), offset + 6);
}
