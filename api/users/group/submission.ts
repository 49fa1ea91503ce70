import { isObject } from '../../../crds/json-value.ts';
import { isDeepStrictEqual } from 'node:util';
import { MOST_HINTS, wordHint } from '../../../crds/did-you-mean.ts';
import { GROUP_NAME, LONGEST_GROUP_DESCRIPTION } from '../../../crds/group.ts';
import type { Fault } from '../../../crds/fault.ts';
import type { GroupContent } from '../../db/user/group.ts';
import { Problem } from '../../problem.ts';
import type { GroupView } from '../../schemas/group.ts';

const longestName = 256;
const possibleName = new RegExp(GROUP_NAME, 'u');

/**
 * Reads a submitted group. Fields that the service sets (`id`, `created_at`, `members`) may be given as in `present`,
 * so that a group that was read can be sent back. Throws Problem `invalid` with every fault.
 */
export function readGroupSubmission(value: unknown, present?: GroupView): GroupContent {
  if (!isObject(value)) throw new Problem('invalid', 'The body must be an object');
  const { name, description = null, resourceType = 'Group', ...others } = value;
  const faults: Fault[] = [
    ...(resourceType === 'Group' ? [] : [{ path: 'resourceType', message: 'must be Group' }]),
    ...nameFaults(name),
    ...descriptionFaults(description),
    ...foreignFaults(others, present),
  ];
  if (faults.length > 0 || typeof name !== 'string') throw new Problem('invalid', faults);
  return { name, description: typeof description === 'string' ? description : null };
}

function nameFaults(name: unknown): readonly Fault[] {
  const fault = (message: string): readonly Fault[] => [{ path: 'name', message }];
  if (name === undefined) return fault('is required');
  if (typeof name !== 'string' || name.length > longestName || !possibleName.test(name)) {
    return fault(`must be one line of 1 to ${String(longestName)} characters, without a blank at its ends`);
  }
  return /^\d+$/.test(name) ? fault('must not be only digits: policies would take it for the id of a group') : [];
}

function descriptionFaults(description: unknown): readonly Fault[] {
  if (description === null || (typeof description === 'string' && description.length <= LONGEST_GROUP_DESCRIPTION))
    return [];
  return [
    {
      path: 'description',
      message: `must be a string of at most ${String(LONGEST_GROUP_DESCRIPTION)} characters, or null`,
    },
  ];
}

function foreignFaults(others: Readonly<Record<string, unknown>>, present: GroupView | undefined): readonly Fault[] {
  const shown = new Map<string, unknown>(Object.entries(present ?? {}));
  return Object.entries(others)
    .filter(([name, value]) => !shown.has(name) || !isDeepStrictEqual(shown.get(name), value))
    .map(([path], nth) => {
      const hint = nth < MOST_HINTS ? wordHint(path, ['name', 'description']) : '';
      return { path, message: `cannot be set: the fields of a group are name and description${hint}` };
    });
}
