import { hash, randomUUID } from 'node:crypto';
import { checkedBytes, checkedText, fillRandom } from './token-text.ts';
import { uuidText } from '../../program/text.ts';

/** Parts of an authorization code. */
export interface CodeParts {
  /** UUID of its row. */
  readonly id: string;
  /** SHA-256 of its random part, 64 hexadecimal digits. */
  readonly hash: string;
  /** True if nothing was granted of the requested scope: the token response says so (RFC 6749 §5.1). */
  readonly grantsNothing: boolean;
  /** True if no scope was requested: then the default scope has `openid`, but no id_token was asked for. */
  readonly hasDefaultScope: boolean;
}

/** Content of a new code, and the UUID of its row; by default a new one. */
type MakeCode = Pick<CodeParts, 'grantsNothing' | 'hasDefaultScope'> & { readonly id?: string };

/** A newly created authorization code. */
export interface NewCode extends CodeParts {
  readonly text: string;
}

const prefix = 'bgc_';
const secretAt = 16;
const checksumAt = 48;
/** The last byte of the random part, whose last two bits are flags: they cost no column. */
const flagAt = checksumAt - 1;
/** 52 bytes in base64url, whose last character carries only two bits. */
const shape = /^bgc_[A-Za-z0-9_-]{70}$/;

/**
 * Creates an authorization code: `bgc_` + base64url of an id (16 bytes), 254 random bits and two flags (32), CRC-32
 * (4).
 */
export function makeCode({ grantsNothing, hasDefaultScope, id = randomUUID() }: MakeCode): NewCode {
  const bytes = Buffer.allocUnsafe(checksumAt + 4);
  bytes.write(id.replaceAll('-', ''), 'hex');
  fillRandom(bytes, secretAt, checksumAt - secretAt);
  const flags = Number(grantsNothing) | (Number(hasDefaultScope) << 1);
  bytes.writeUInt8((bytes.readUInt8(flagAt) & 0xfc) | flags, flagAt);
  return { text: checkedText(prefix, bytes), ...partsOf(bytes) };
}

/** Reads an authorization code; undefined if it cannot be one of ours, which then costs no SQL. */
export function parseCode(text: string): CodeParts | undefined {
  const bytes = shape.test(text) ? checkedBytes(prefix, text) : undefined;
  return bytes && partsOf(bytes);
}

function partsOf(bytes: Buffer): CodeParts {
  return {
    id: uuidText(bytes.toString('hex', 0, secretAt)),
    hash: hash('sha256', bytes.subarray(secretAt, checksumAt), 'hex'),
    grantsNothing: (bytes.readUInt8(flagAt) & 1) !== 0,
    hasDefaultScope: (bytes.readUInt8(flagAt) & 2) !== 0,
  };
}
