import type { Fault } from './fault.ts';

/** Characters of `details`, as JSON. */
const LONGEST_DETAILS = 65_536;

/** Characters of a whole resource without its secret, as JSON. */
export const LONGEST_RESOURCE = 262_144;

/**
 * Returns the faults of a resource to be stored that is too long. A CRD cannot check this: its rules do not see into
 * free fields. A stored resource that is longer, from before there was a limit, stays in force.
 */
export function sizeFaults(resource: Readonly<Record<string, unknown>>): readonly Fault[] {
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
