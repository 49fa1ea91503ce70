import { crc32 } from 'node:zlib';

const prefix = 'bgs_';
const shape = /^bgs_[A-Za-z0-9_-]{48}$/;
const randomBytes = 32;

/** Returns the client secret of 32 random bytes: `bgs_` + base64url of them and their CRC-32. */
export function generatedSecretText(random: Uint8Array): string {
  const bytes = Buffer.allocUnsafe(randomBytes + 4);
  bytes.set(random.subarray(0, randomBytes));
  bytes.writeUInt32BE(crc32(bytes.subarray(0, randomBytes)), randomBytes);
  return prefix + bytes.toString('base64url');
}

/** Checks whether a secret is of the generated form: 256 random bits need no slow hash (OWASP ASVS 5.0 §6.5.2). */
export function isGeneratedSecret(text: string): boolean {
  if (!shape.test(text)) return false;
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  return bytes.readUInt32BE(randomBytes) === crc32(bytes.subarray(0, randomBytes));
}

/** Returns the first secret of the generated form in a text, whatever surrounds it. */
export function generatedSecretIn(text: string): string | undefined {
  return text.match(/bgs_[A-Za-z0-9_-]{48}/g)?.find(isGeneratedSecret);
}
