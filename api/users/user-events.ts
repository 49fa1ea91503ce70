import type { SecurityEvent } from '../audit/audit-trail.ts';
import type { StoredUser } from '../db/user.ts';

/** Returns the events of a change of a user; `groups` are the groups after it, undefined if they stay. */
export function userChangeEvents(
  { id, groups: present }: Pick<StoredUser, 'id' | 'groups'>,
  changed: readonly string[],
  groups: readonly number[] | undefined,
): readonly SecurityEvent[] {
  const target = `User/${String(id)}`;
  const others = changed.filter((name) => name !== 'password');
  const [before, after] = [present.map((group) => group.id), groups ?? present.map((group) => group.id)];
  return [
    ...(changed.includes('password') ? [{ event: 'user.password_changed', target } as const] : []),
    ...(others.length > 0 ? [{ event: 'user.changed', target, changed: others } as const] : []),
    ...memberEvents('group.member_added', id, missingFrom(before, after)),
    ...memberEvents('group.member_removed', id, missingFrom(after, before)),
  ];
}

/** Returns the events of a new user in some groups. */
export function newUserEvents(
  event: 'user.created' | 'user.signed_up',
  id: number,
  groups: readonly number[],
): readonly SecurityEvent[] {
  return [{ event, target: `User/${String(id)}` }, ...memberEvents('group.member_added', id, groups)];
}

function memberEvents(
  event: 'group.member_added' | 'group.member_removed',
  member: number,
  groups: readonly number[],
): readonly SecurityEvent[] {
  return groups.map((group) => ({ event, target: `Group/${String(group)}`, member }));
}

function missingFrom(some: readonly number[], all: readonly number[]): readonly number[] {
  const known = new Set(some);
  return all.filter((one) => !known.has(one));
}
