import type { Fault } from './fault.ts';

/** Characters of `details`, as JSON. */
const LONGEST_DETAILS = 8_192;

/** Characters of a Client or an AccessPolicy without its secret, as JSON. The schemas of other kinds are bounds. */
export const LONGEST_RESOURCE = 32_768;

/** Checks whether objects of a kind have free fields, so that {@link LONGEST_RESOURCE} applies to them. */
export function isLimited(kind: unknown): boolean {
  return kind === 'Client' || kind === 'AccessPolicy';
}

/** Returns the faults of a resource that is too long. No CRD rule can check this: they do not see into free fields. */
export function sizeFaults(resource: Readonly<Record<string, unknown>>): readonly Fault[] {
  if (!isLimited(resource['resourceType'])) return [];
  const details = lengthOf(resource['details']);
  if (details > LONGEST_DETAILS) return [tooLong('details', details, LONGEST_DETAILS)];
  const whole = lengthOf(resource);
  return whole > LONGEST_RESOURCE ? [tooLong('', whole, LONGEST_RESOURCE)] : [];
}

/** Returns the fault of a value that is too long. */
export function tooLong(path: string, length: number, most: number): Fault {
  return { path, message: `must have at most ${String(most)} characters as JSON: it has ${String(length)}` };
}

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}
