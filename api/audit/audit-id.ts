import { fillUuidV7 } from '../credentials/token-text.ts';
import { uuidText } from '../../program/text.ts';

/**
 * Returns the id of a new record, a UUIDv7 (RFC 9562 §5.7); `time` in milliseconds since 1970. Records of one time are
 * in the order of their `index` (§6.2, method 1).
 */
export function newAuditId(time: number, index = 0): string {
  const bytes = Buffer.alloc(16);
  fillUuidV7(bytes, 0, time);
  bytes.writeUInt16BE(0x7000 | Math.min(index, 0xfff), 6);
  return uuidText(bytes.toString('hex'));
}
