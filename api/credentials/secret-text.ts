import { crc32 } from 'node:zlib';
import { fillRandom } from './random.ts';
import { isWhole } from './token-text.ts';

const prefix = 'bgs_';
const shape = /^bgs_[A-Za-z0-9_-]{48}$/;

/** A client secret with 256 random bits: `bgs_` + base64url of 32 bytes and their CRC-32. */
export function generateClientSecret(): string {
  const bytes = Buffer.allocUnsafe(36);
  fillRandom(bytes, 0, 32);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 32)), 32);
  return prefix + bytes.toString('base64url');
}

/** Whether a secret is of the generated form: 256 random bits need no slow hash (OWASP ASVS 5.0 §6.5.2). */
export function isGeneratedSecret(text: string): boolean {
  return (
    shape.test(text) && isWhole(Buffer.from(text.slice(prefix.length), 'base64url'), 32, text.slice(prefix.length))
  );
}
