import type { Box } from '../../../crds/box.ts';
import { Problem } from '../../problem.ts';
import { refuseParameters } from '../../resources/search/parameters.ts';
import { changeUser } from '../../users/user/change.ts';
import { createUser } from '../../users/user/create-user.ts';
import { getUser } from '../../users/user/get-user.ts';
import { removeUser } from '../../users/user/remove-user.ts';
import type { UserServices } from '../../users/services.ts';
import { listUsers } from '../../users/user/search.ts';
import { entityTag, isKnown, readPreconditions } from '../../resources/write/etag.ts';
import { listedUser, singleUser, userVersion } from '../../users/user/view.ts';
import type { StoredUser } from '../../db/user/user.ts';
import { idIn } from './id-in-path.ts';
import type { ResourceAnswer, ResourceExchange } from './resource-exchange.ts';
import { listAnswer } from './search-answer.ts';
import { documentIn } from '../formats/submitted-body.ts';

/** Answers a request to the users API. Throws Problem and Outage. */
type UserHandler = (exchange: ResourceExchange, services: UserServices) => Promise<ResourceAnswer>;

/** One route of the users API. */
export interface UserRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: '/users' | '/users/:id';
  readonly kind: 'User';
  readonly handler: UserHandler;
}

const list: UserHandler = async ({ box, baseUrl, query }, services) => {
  const result = await listUsers(services, box, query);
  return listAnswer(`${baseUrl}/users`, query, result, result.rows.map(listedUser));
};

const create: UserHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const { box, baseUrl, settings } = exchange;
  const user = await createUser(services, box, settings, documentIn(exchange));
  const headers = { Location: `${baseUrl}/users/${String(user.id)}`, ETag: entityTag(userVersion(user)) };
  return { status: 201, headers, body: singleUser(user, settings) };
};

const read: UserHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const { box, settings } = exchange;
  const preconditions = readPreconditions(exchange);
  const user = await getUser(services, box, userIdIn(exchange));
  if (user === undefined) throw nobody();
  const answer = userAnswer(user, settings);
  return isKnown(preconditions, userVersion(user)) ? { status: 304, headers: answer.headers } : answer;
};

const change: UserHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const { settings, confirmChanges, guessPassword } = exchange;
  const preconditions = readPreconditions(exchange);
  const change = { id: userIdIn(exchange), value: documentIn(exchange), preconditions, confirmChanges };
  const user = await changeUser(services, exchange, change, guessPassword);
  if (user === undefined) throw nobody();
  return userAnswer(user, settings);
};

const remove: UserHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const { box, settings } = exchange;
  const preconditions = readPreconditions(exchange);
  const user = await removeUser(services, box, userIdIn(exchange), preconditions);
  if (user === undefined) throw nobody();
  return { status: 200, body: singleUser(user, settings) };
};

function userAnswer(user: StoredUser, settings: Box) {
  return { status: 200, headers: { ETag: entityTag(userVersion(user)) }, body: singleUser(user, settings) } as const;
}

/** Every route of the users API. */
export const userRoutes: readonly UserRoute[] = [
  { method: 'GET', path: '/users', kind: 'User', handler: list },
  { method: 'POST', path: '/users', kind: 'User', handler: create },
  { method: 'GET', path: '/users/:id', kind: 'User', handler: read },
  { method: 'PUT', path: '/users/:id', kind: 'User', handler: change },
  { method: 'DELETE', path: '/users/:id', kind: 'User', handler: remove },
];

/** Returns the id in the path. Throws Problem `bad-request` if it is no number, `not-found` if no user can have it. */
function userIdIn(exchange: ResourceExchange): number {
  const id = idIn(exchange);
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  if (/^-?\d+(?:\.\d+)?$/.test(id)) throw nobody();
  throw new Problem('bad-request', 'The id of a user is a number');
}

function nobody(): Problem {
  return new Problem('not-found', 'There is no user with this id');
}
