import { isObject } from '../../../crds/json-value.ts';

/** Applies a merge patch (RFC 7396 §2): `null` removes a member, objects merge, anything else replaces. Pure. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // A Map, so that no name of a member can be mistaken for one of the prototype's.
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}
