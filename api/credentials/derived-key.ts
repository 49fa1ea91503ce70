import { hkdfSync } from 'node:crypto';

/** Derives 32 bytes for one purpose from a key of the installation (HKDF, RFC 5869): they reveal nothing of the key. */
export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `boxgate ${purpose}`, 32));
}
