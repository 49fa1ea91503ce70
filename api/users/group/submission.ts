import { isObject, type JsonObject } from '../../../crds/json-value.ts';
import { isDeepStrictEqual } from 'node:util';
import { MOST_HINTS, wordHint } from '../../../crds/did-you-mean.ts';
import type { Fault } from '../../../crds/fault.ts';
import { checkResource } from '../../../crds/validate.ts';
import type { GroupContent } from '../../db/user/group.ts';
import { Problem } from '../../problem.ts';
import type { GroupView } from '../../schemas/group.ts';

/**
 * Reads a submitted group, by the rules of a declared one. Fields that the service sets (`id`, `created_at`, `members`)
 * may be given as in `present`, so that a group that was read can be sent back. Throws Problem `invalid` with every
 * fault.
 */
export function readGroupSubmission(value: unknown, present?: GroupView): GroupContent {
  if (!isObject(value)) throw new Problem('invalid', 'The body must be an object');
  const { name, description = null, resourceType = 'Group', ...others } = value;
  const faults: Fault[] = [
    ...(resourceType === 'Group' ? [] : [{ path: 'resourceType', message: 'must be Group' }]),
    ...contentFaults({ name, description }, present),
    ...foreignFaults(others, present),
  ];
  if (faults.length > 0 || typeof name !== 'string') throw new Problem('invalid', faults);
  return { name, description: typeof description === 'string' ? description : null };
}

/** Returns the faults of a name and a description, `null` if there is none. */
function contentFaults(content: JsonObject, present: GroupView | undefined): readonly Fault[] {
  const given = Object.entries(content).filter(([, value]) => value !== undefined && value !== null);
  const checked = checkResource('Group', Object.fromEntries(given));
  if (checked.ok) return [];
  // An older release took names that no object and no link takes: such a group keeps its name until it changes.
  const kept = new Set(given.flatMap(([field, value]) => (isAsIn(present, field, value) ? [field] : [])));
  return checked.faults.filter(({ path }) => !kept.has(path));
}

function isAsIn(present: GroupView | undefined, field: string, value: unknown): boolean {
  return present !== undefined && new Map<string, unknown>(Object.entries(present)).get(field) === value;
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
