import type { Random } from '../../support/random.ts';

/** True once in `n` times on average. */
export function oneIn(n: number, random: Random): boolean {
  return random.below(n) === 0;
}

/** A text with some of its characters removed, doubled, or replaced by awkward ones. */
export function garbled(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const length = random.below(4);
  const middle = random.pick(['', awkwardText(random), text.slice(at, at + length).repeat(2)]);
  return text.slice(0, at) + middle + text.slice(at + length);
}

/** A text that parsers disagree on. */
export function awkwardText(random: Random): string {
  return random.pick(awkward);
}

/** Latin-1 text: each character is one byte on the wire. */
const awkward: readonly [string, ...string[]] = [
  '%00', '%ff', '%c0%af', '%2e%2e%2f', '%252f', '%', '%u0041', '%0d%0aX-Injected:%20yes', '%E2%80%AE', '%ED%A0%80',
  '\u0000', '\u00ff', '\u00c3\u0028', '\u00ed\u00a0\u0080', '\t', '\\', ';', '"', "'", '`', '$', '#', '?', '&', '=',
  '+', '*', '(', ')', '{', '}', '[', ']', '<script>', '../', '//', '/./', '..;/', '-1', '1e9', '9'.repeat(25), '0x10',
  'NaN', 'null', 'true', '__proto__', 'constructor', 'toString', 'x'.repeat(300), 'e\u00cc\u0081', "' OR 1=1 --", '${7*7}',
]; // prettier-ignore
