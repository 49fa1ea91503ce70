import type { StoredGroup } from '../../db/user/group.ts';
import { Problem } from '../../problem.ts';
import { withElements } from '../../resources/search/bundle.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../resources/write/etag.ts';
import { readElementsOnly, readSearch, refuseParameters } from '../../resources/search/parameters.ts';
import type { ResourceServices } from '../../resources/services.ts';
import { changeGroup, createGroup, getGroup, removeGroup } from '../../users/group/change.ts';
import type { GroupWish } from '../../users/group/change.ts';
import { groupSearch, searchStoredGroups } from '../../users/group/search.ts';
import { groupView } from '../../users/group/view.ts';
import { wishOf } from './group-wish.ts';
import { possibleIdIn } from './id-in-path.ts';
import type { ResourceAnswer, ResourceExchange, ResourceHandler } from './resource-exchange.ts';
import { searchAnswer } from './search-answer.ts';
import { documentIn } from '../formats/submitted-body.ts';

/** `GET /Group` */
export const searchGroupsHandler: ResourceHandler = async (exchange, services) => {
  const request = readSearch(exchange.query, groupSearch);
  const result = await searchStoredGroups(services, exchange.box, request);
  return searchAnswer(exchange, { kind: 'Group', viewOf: groupView }, request, result);
};

/** `POST /Group` */
export const postGroupHandler: ResourceHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const group = await createGroup(services, exchange.box, documentIn(exchange));
  const { headers, body } = groupAnswer(group);
  return { status: 201, headers: { ...headers, Location: `${exchange.baseUrl}/Group/${String(group.id)}` }, body };
};

/** `GET /Group/<id>` */
export const getGroupHandler: ResourceHandler = async (exchange, services) => {
  const elements = readElementsOnly(exchange.query, groupSearch.elements);
  const preconditions = readPreconditions(exchange);
  const id = groupIdIn(exchange);
  const group = id === undefined ? undefined : await getGroup(services, exchange.box, id);
  if (group === undefined) throw nothingThere();
  const { headers, body } = groupAnswer(group);
  if (isKnown(preconditions, group.version)) return { status: 304, headers };
  return { status: 200, headers, body: withElements(body, elements) };
};

/** `PUT /Group/<id>`: the service assigns the ids, so this creates no group. */
export const putGroupHandler: ResourceHandler = (exchange, services) => change(exchange, services, wishOf(exchange));

/** `PATCH /Group/<id>` */
export const patchGroupHandler: ResourceHandler = (exchange, services) => change(exchange, services, wishOf(exchange));

/** `DELETE /Group/<id>`: its memberships end with the next request. */
export const deleteGroupHandler: ResourceHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const preconditions = readPreconditions(exchange);
  const id = groupIdIn(exchange);
  if (id === undefined) demandPreconditions(preconditions, undefined);
  const group = id === undefined ? undefined : await removeGroup(services, exchange.box, id, preconditions);
  return group === undefined ? { status: 204 } : { status: 200, body: groupView(group) };
};

async function change(
  exchange: ResourceExchange,
  services: ResourceServices,
  wish: GroupWish,
): Promise<ResourceAnswer> {
  refuseParameters(exchange.query);
  const preconditions = readPreconditions(exchange);
  const id = groupIdIn(exchange);
  const { box, confirmChanges } = exchange;
  const group =
    id === undefined ? undefined : await changeGroup(services, box, { id, wish, preconditions, confirmChanges });
  if (group === undefined) throw nothingThere();
  return { status: 200, ...groupAnswer(group) };
}

/** Creates the answer. The version is that of the name and the description; `members` is counted for each answer. */
function groupAnswer(group: StoredGroup) {
  return { headers: { ETag: entityTag(group.version) }, body: groupView(group) } as const;
}

function groupIdIn(exchange: ResourceExchange): number | undefined {
  const id = possibleIdIn(exchange, 'Group');
  return id === undefined ? undefined : Number(id);
}

function nothingThere(): Problem {
  return new Problem('not-found', 'There is no Group with this id');
}
