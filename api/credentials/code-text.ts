import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fillRandom } from './random.ts';
import { uuidText } from '../../process/uuid-text.ts';
import { isWhole } from './token-text.ts';

/** Parts of an authorization code. */
export interface CodeParts {
  /** UUID of its row. */
  readonly id: string;
  /** SHA-256 of its random part, 64 hexadecimal digits. */
  readonly hash: string;
  /** True if nothing was granted of the requested scope: the token response says so (RFC 6749 §5.1). */
  readonly grantsNothing: boolean;
}

/** A newly created authorization code. */
export interface NewCode extends CodeParts {
  readonly text: string;
}

const prefix = 'bgc_';
const newsAt = 15;
const secretAt = 16;
const checksumAt = 48;
/** 52 bytes in base64url, whose last character carries only two bits. */
const shape = /^bgc_[A-Za-z0-9_-]{70}$/;

/**
 * Creates an authorization code: `bgc_` + base64url of an id (16 bytes), 256 random bits (32) and CRC-32 (4). The last
 * bit of the id is `grantsNothing`: it costs no column.
 */
export function makeCode({ grantsNothing }: Pick<CodeParts, 'grantsNothing'>): NewCode {
  const bytes = Buffer.allocUnsafe(checksumAt + 4);
  fillRandom(bytes, 0, checksumAt);
  bytes.writeUInt8((bytes.readUInt8(newsAt) & 0xfe) | Number(grantsNothing), newsAt);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, checksumAt)), checksumAt);
  return { text: prefix + bytes.toString('base64url'), ...partsOf(bytes) };
}

/** Reads an authorization code; undefined if it cannot be one of ours, which then costs no SQL. */
export function parseCode(text: string): CodeParts | undefined {
  if (!shape.test(text)) return undefined;
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  return isWhole(bytes, checksumAt, text.slice(prefix.length)) ? partsOf(bytes) : undefined;
}

function partsOf(bytes: Buffer): CodeParts {
  return {
    id: uuidText(bytes.toString('hex', 0, secretAt)),
    hash: hash('sha256', bytes.subarray(secretAt, checksumAt), 'hex'),
    grantsNothing: (bytes.readUInt8(newsAt) & 1) === 1,
  };
}
