import { isList, isObject, type JsonObject } from '../../../crds/json-value.ts';
import type { BoxClient } from '../box-client.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Column } from '../output.ts';

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** Columns of a table of users. */
export const USER_COLUMNS: readonly Column[] = [
  { heading: 'ID', text: ({ id }) => text(id) },
  { heading: 'EMAIL', text: ({ email }) => text(email) },
  { heading: 'STATUS', text: ({ status }) => text(status ?? 'active') },
  { heading: 'GROUPS', text: ({ groups }) => groupNames(groups).join(', ') },
];

/** Returns the names of a user's groups. */
export function groupNames(groups: unknown): readonly string[] {
  return (isList(groups) ? groups : []).filter(isObject).map(({ name }) => text(name));
}

/** Returns a user without the hash of the password, which no person needs to see. */
export function shownUser({ password: _hash, ...user }: JsonObject): JsonObject {
  return user;
}

/** Returns the user with an ID or email. Throws CliError if there is none. */
export async function findUser(box: BoxClient, idOrEmail: string): Promise<JsonObject & { readonly id: number }> {
  const path = /^\d+$/.test(idOrEmail)
    ? `/users/${idOrEmail}`
    : `/users?${new URLSearchParams({ email: idOrEmail }).toString()}`;
  const { status, body } = await box.request('GET', path, { expected: 404 });
  const user: unknown = isList(body) ? body[0] : body;
  if (status !== 404 && isObject(user) && typeof user['id'] === 'number') return { ...user, id: user['id'] };
  throw new CliError(EXIT.refused, `there is no user ${JSON.stringify(idOrEmail)} in the box ${box.box}`);
}

/** Returns the name of a user for a message: email and number. */
export function userName({ id, email }: JsonObject): string {
  return `${text(email)} (id ${text(id)})`;
}
