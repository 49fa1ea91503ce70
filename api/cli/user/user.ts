import { isList, isObject } from '../../../crds/json-value.ts';
import type { ListedUser, UserView } from '../../schemas/user.ts';
import { noBoxAnswer, type BoxClient } from '../box-client.ts';
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

function groupNames(groups: unknown): readonly string[] {
  return (isList(groups) ? groups : []).filter(isObject).map(({ name }) => text(name));
}

/** Returns a user without the hash of the password, which no person needs to see. */
export function shownUser({ password: _hash, ...user }: UserView): ListedUser {
  return user;
}

/** Returns the user with an ID or email. Throws CliError if there is none. */
export async function findUser(box: BoxClient, idOrEmail: string): Promise<UserView> {
  const user = /^\d+$/.test(idOrEmail) ? await userAt(box, idOrEmail) : await userNamed(box, idOrEmail);
  if (user !== undefined) return user;
  throw new CliError(EXIT.refused, `there is no user ${JSON.stringify(idOrEmail)} in the box ${box.box}`);
}

async function userAt(box: BoxClient, id: string): Promise<UserView | undefined> {
  return (await box.request('GET', `/users/${id}`, { expected: 404 })).body;
}

async function userNamed(box: BoxClient, email: string): Promise<ListedUser | undefined> {
  const query = new URLSearchParams({ email }).toString();
  const { body } = await box.request('GET', `/users?${query}`);
  if (!isList(body)) throw noBoxAnswer(box.base);
  return body[0];
}

/** Returns the name of a user for a message: email and number. */
export function userName({ id, email }: Pick<UserView, 'id' | 'email'>): string {
  return `${email} (id ${String(id)})`;
}
