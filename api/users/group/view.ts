import type { StoredGroup } from '../../db/user/group.ts';
import { groupSchema } from '../../schemas/group.ts';
import type { GroupView } from '../../schemas/group.ts';

/** The fields of a group as it is shown. */
export const groupElements = Object.keys(groupSchema.properties);

/** Shows a group; `members` is the number of users that are in it now. */
export function groupView({ id, name, description, createdAt, members }: StoredGroup): GroupView {
  return {
    resourceType: 'Group',
    id,
    name,
    description,
    created_at: new Date(createdAt).toISOString(),
    members,
  };
}
