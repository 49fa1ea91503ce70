import { hash } from 'node:crypto';
import { allows } from '../../../crds/compatibility.ts';
import type { Box } from '../../../crds/box.ts';
import type { StoredUser } from '../../db/user/user.ts';
import { listedUserSchema } from '../../schemas/user.ts';
import type { ListedUser, UserView } from '../../schemas/user.ts';

/** The fields of a user as a list shows it. */
export const userElements = Object.keys(listedUserSchema.properties);

/** Shows a user in a list. */
export function listedUser({
  id,
  email,
  emailVerified,
  data,
  status,
  groups,
  createdAt,
  updatedAt,
}: StoredUser): ListedUser {
  return {
    id,
    email,
    ...(emailVerified === null ? {} : { email_verified: emailVerified }),
    data,
    status,
    'group-ids': groups.map((group) => group.id),
    groups: groups.length === 0 ? null : groups,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}

/** Shows one user: with the hash of the password, unless the box disables that (`compatibility.password_hash`). */
export function singleUser(user: StoredUser, settings: Box): UserView {
  const showsHash = allows(settings, 'password_hash');
  const { id, email, ...rest } = listedUser(user);
  return { id, email, ...(showsHash ? { password: user.password.hash } : {}), ...rest };
}

/**
 * Returns the version of a user, which changes with each field of its record. It is a digest of the record, so a group
 * that is renamed changes the version of its members.
 */
export function userVersion(user: StoredUser): string {
  return hash('sha256', JSON.stringify([listedUser(user), user.password.hash]), 'base64url').slice(0, 22);
}
