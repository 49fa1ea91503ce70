import { randomFillSync } from 'node:crypto';

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

/** Writes a UUIDv7 (RFC 9562 §5.7) into `target` at `offset`; `time` in milliseconds since 1970. */
export function fillUuidV7(target: Buffer, offset: number, time: number): void {
  fillRandom(target, offset + 6, 10);
  target.writeUIntBE(time, offset, 6);
  target.writeUInt8((target.readUInt8(offset + 6) & 0x0f) | 0x70, offset + 6);
  target.writeUInt8((target.readUInt8(offset + 8) & 0x3f) | 0x80, offset + 8);
}
