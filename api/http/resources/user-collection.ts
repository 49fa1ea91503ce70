import type { UserFilters } from '../../db/user/user-search.ts';
import { readUser } from '../../db/user/user.ts';
import type { StoredUser } from '../../db/user/user.ts';
import { Problem } from '../../problem.ts';
import { changeUser } from '../../users/user/change.ts';
import { createUser } from '../../users/user/create-user.ts';
import { removeUser } from '../../users/user/remove-user.ts';
import { userSearch } from '../../users/user/search.ts';
import { listedUser, singleUser, userVersion } from '../../users/user/view.ts';
import { documentIn } from '../formats/parse-body.ts';
import type { Collection } from './collection.ts';
import { idIn, possibleId } from './id-in-path.ts';

/** The collection of users under `/users`: lists are plain, a PUT changes the fields that it has. */
export const userCollection: Collection<'User', StoredUser, UserFilters, number> = {
  kind: 'User',
  path: '/users',
  absent: 'There is no user with this id',
  search: userSearch,
  view: singleUser,
  listed: listedUser,
  version: userVersion,
  idOf: userIdOf,
  read: readUser,
  create: (services, { box, settings, ...submitted }) => createUser(services, box, settings, documentIn(submitted)),
  put: async (services, exchange, conditions) => {
    const change = { id: userIdOf(idIn(exchange)), value: documentIn(exchange), by: exchange.user, ...conditions };
    const row = await changeUser(services, exchange, change, exchange.guessPassword);
    return row && { row };
  },
  remove: async (services, box, id, preconditions) => {
    const user = await removeUser(services, box, id, preconditions);
    if (user === undefined) throw nobody();
    return user;
  },
};

/** Returns the id in the path. Throws Problem `bad-request` if it is no number, `not-found` if no user can have it. */
function userIdOf(text: string): number {
  if (possibleId('User', text) !== undefined) return Number(text);
  if (/^-?\d+(?:\.\d+)?$/.test(text)) throw nobody();
  throw new Problem('bad-request', 'The id of a user is a number');
}

function nobody(): Problem {
  return new Problem('not-found', userCollection.absent);
}
