import { NUMBERED_ID } from '../../crds/fields.ts';
import { bumpVersion } from '../db/box/box.ts';
import { lockUse } from '../db/box/box-use.ts';
import { lockUserRow, readUser, userListing } from '../db/user.ts';
import type { StoredUser } from '../db/user.ts';
import { deleteUser, endUserSessions } from '../db/user-write.ts';
import { Problem } from '../problem.ts';
import { listedUserSchema } from '../schemas/user.ts';
import { emailKey, folded } from '../users/email.ts';
import { defineRecord } from './record.ts';
import type { Written } from './record.ts';
import { searchable } from './search/search.ts';
import { readNumber, readWord } from './search/values.ts';
import { changedUserFields, changeUser, createUser } from './user-change.ts';
import { listedUser, userVersion, userView } from './user-document.ts';
import { changingRights } from './write/change.ts';
import type { ChangingServices } from './write/change.ts';
import { demandPreconditions } from './write/conditions.ts';
import type { Preconditions } from './write/conditions.ts';

/** Users, under `/users`: lists are plain, and a PUT changes the fields that it has. */
export const user = defineRecord({
  kind: 'User',
  path: '/users',
  absent: 'There is no user with this id',
  search: searchable(userListing, {
    controls: ['_count', '_page', '_total'],
    elements: new Set(Object.keys(listedUserSchema.properties)),
    sort: (query) => (query.has('q') ? 'email' : 'id'),
    filters: {
      // What is no email is nobody's.
      email: (text) => ({ emailKey: emailKey(text) ?? '' }),
      q: (text) => ({ emailBeginning: folded(text) }),
      'group-id': (text, name) => ({ group: readNumber(name, text, 1, Number.MAX_SAFE_INTEGER) }),
      status: (text, name) => ({ status: readWord(name, text, ['active', 'inactive']) }),
    },
    ranges: {},
  }),
  view: (row, settings, isListed) => (isListed ? listedUser(row) : userView(row, settings)),
  version: userVersion,
  idOf,
  read: readUser,
  create: createUser,
  put: async (services, box, { id, ...change }): Promise<Written<StoredUser>> => {
    const row = await changeUser(services, box, { id: idOf(id), ...change });
    if (row === undefined) throw nobody();
    return { row, created: false };
  },
  changedFields: (row, { value }) => changedUserFields(row, value),
  remove: async (services, box, id, preconditions) => {
    const removed = await removeUser(services, box, id, preconditions);
    if (removed === undefined) throw nobody();
    return removed;
  },
});

const idForm = new RegExp(NUMBERED_ID);

/** Returns the id in a path. Throws Problem `bad-request` if it is no number, `not-found` if no user can have it. */
function idOf(text: string): number {
  if (idForm.test(text)) return Number(text);
  if (/^-?\d+(?:\.\d+)?$/.test(text)) throw nobody();
  throw new Problem('bad-request', 'The id of a user is a number');
}

function nobody(): Problem {
  return new Problem('not-found', user.absent);
}

/**
 * Deletes a user with all that it has begun, in one transaction, and returns it; undefined when it was not there. Its
 * id is never used again. Throws Problem `precondition-failed`, `conflict` (the last administrator), and Outage.
 */
export function removeUser(
  services: ChangingServices,
  box: string,
  id: number,
  preconditions: Preconditions = {},
): Promise<StoredUser | undefined> {
  return changingRights(services, box, async (connection, note) => {
    await lockUse(connection, box);
    // Some changes of users do not wait for the lock of the box.
    const row = (await lockUserRow(connection, box, id)) ? await readUser(connection, box, id) : undefined;
    demandPreconditions(preconditions, row && userVersion(row));
    if (row === undefined) return undefined;
    await deleteUser(connection, box, id);
    await endUserSessions(connection, box, await bumpVersion(connection, box), id);
    note({ event: 'user.deleted', target: `User/${String(id)}` });
    return row;
  });
}
