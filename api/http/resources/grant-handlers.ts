import { Problem } from '../../problem.ts';
import { withElements } from '../../resources/search/bundle.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../resources/write/etag.ts';
import { readElementsOnly, readSearch, refuseParameters } from '../../resources/search/parameters.ts';
import { getGrant, grantVersion, removeGrant } from '../../users/grant/grant-removal.ts';
import { grantSearch, searchStoredGrants } from '../../users/grant/search.ts';
import { grantKey, grantView } from '../../users/grant/view.ts';
import { possibleIdIn } from './id-in-path.ts';
import type { ResourceHandler } from './resource-exchange.ts';
import { searchAnswer } from './search-answer.ts';

/** `GET /Grant` */
export const searchGrantsHandler: ResourceHandler = async (exchange, services) => {
  const request = readSearch(exchange.query, grantSearch);
  const result = await searchStoredGrants(services, exchange.box, request);
  return searchAnswer(exchange, { kind: 'Grant', viewOf: grantView }, request, result);
};

/** `GET /Grant/<user>.<client>` */
export const getGrantHandler: ResourceHandler = async (exchange, services) => {
  const elements = readElementsOnly(exchange.query, grantSearch.elements);
  const preconditions = readPreconditions(exchange);
  const id = possibleIdIn(exchange, 'Grant');
  const grant = id === undefined ? undefined : await getGrant(services, exchange.box, grantKey(id));
  if (grant === undefined) throw new Problem('not-found', 'There is no Grant with this id');
  const headers = { ETag: entityTag(grantVersion(grant)) };
  if (isKnown(preconditions, grantVersion(grant))) return { status: 304, headers };
  return { status: 200, headers, body: withElements(grantView(grant), elements) };
};

/** `DELETE /Grant/<user>.<client>`: ends all access of the client for the user, from the next request on. */
export const deleteGrantHandler: ResourceHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const preconditions = readPreconditions(exchange);
  const id = possibleIdIn(exchange, 'Grant');
  if (id === undefined) demandPreconditions(preconditions, undefined);
  const grant = id === undefined ? undefined : await removeGrant(services, exchange.box, grantKey(id), preconditions);
  return grant === undefined ? { status: 204 } : { status: 200, body: grantView(grant) };
};
