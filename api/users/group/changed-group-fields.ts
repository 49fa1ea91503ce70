import { isObject } from '../../../crds/json-value.ts';
import type { GroupContent } from '../../db/user/group.ts';
import { differingFields } from '../../resources/write/changed-fields.ts';

/** Returns the names of the fields of a group that a request would change; `group` is undefined for a new one. */
export function changedGroupFields(group: GroupContent | undefined, wished: unknown): readonly string[] {
  if (!isObject(wished)) return [];
  const { name, description = null } = wished;
  return differingFields(group === undefined ? { description: null } : { ...group }, { name, description }, [
    'name',
    'description',
  ]);
}
