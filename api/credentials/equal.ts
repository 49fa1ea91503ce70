import { timingSafeEqual } from 'node:crypto';

/** Checks whether two texts are equal, in a time that depends on their lengths only. */
export function equal(left: string, right: string): boolean {
  const a = Buffer.from(left, 'utf8');
  const b = Buffer.from(right, 'utf8');
  return a.length === b.length && timingSafeEqual(a, b);
}
