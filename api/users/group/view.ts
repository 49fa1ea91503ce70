import type { StoredGroup } from '../../db/user/group.ts';

/** The fields of a group as it is shown. */
export const groupElements = ['resourceType', 'id', 'name', 'description', 'created_at', 'members'] as const;

/** A group as it is shown. */
export type GroupView = Readonly<Record<(typeof groupElements)[number], unknown>>;

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
