import type { StoredResource } from '../../db/resource/resource.ts';
import { Problem } from '../../problem.ts';
import { withElements } from '../../resources/search/bundle.ts';
import { deleteResource } from '../../resources/write/delete.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../resources/write/etag.ts';
import { getResource } from '../../resources/write/get.ts';
import { patchResource } from '../../resources/write/patch.ts';
import { postResource } from '../../resources/write/post.ts';
import { putResource } from '../../resources/write/put.ts';
import { readElementsOnly, readSearch, refuseParameters } from '../../resources/search/parameters.ts';
import { searchStored, storedSearches } from '../../resources/search/stored.ts';
import type { StoredKind } from '../../resources/services.ts';
import type { Written } from '../../resources/write/store.ts';
import { storedView } from '../../resources/write/stored-view.ts';
import { idIn, possibleIdIn } from './id-in-path.ts';
import type { ResourceAnswer, ResourceExchange, ResourceHandler } from './resource-exchange.ts';
import { searchAnswer } from './search-answer.ts';
import { documentIn, patchIn } from '../formats/submitted-body.ts';

/** `GET /<kind>` */
export function searchHandler(kind: StoredKind): ResourceHandler {
  return async (exchange, services) => {
    const request = readSearch(exchange.query, storedSearches[kind]);
    const result = await searchStored(services, exchange.box, kind, request);
    return searchAnswer(exchange, { kind, viewOf: storedView }, request, result);
  };
}

/** `POST /<kind>` */
export function postHandler(kind: StoredKind): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const written = await postResource(services, exchange.box, kind, documentIn(exchange));
    return writtenAnswer(exchange, written);
  };
}

/** `GET /<kind>/<id>` */
export function getHandler(kind: StoredKind): ResourceHandler {
  return async (exchange, services) => {
    const elements = readElementsOnly(exchange.query, storedSearches[kind].elements);
    const preconditions = readPreconditions(exchange);
    const id = possibleIdIn(exchange, kind);
    const found = id === undefined ? undefined : await getResource(services, { box: exchange.box, kind, id });
    if (found === undefined) throw nothingThere(kind);
    const headers = { ETag: entityTag(found.version) };
    if (isKnown(preconditions, found.version)) return { status: 304, headers };
    return { status: 200, headers, body: withElements(storedView(found), elements) };
  };
}

/** `PUT /<kind>/<id>` */
export function putHandler(kind: StoredKind): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const { box, confirmChanges } = exchange;
    const preconditions = readPreconditions(exchange);
    const document = documentIn(exchange);
    const id = idIn(exchange);
    const written = await putResource(services, { box, kind, id }, document, { preconditions, confirmChanges });
    return writtenAnswer(exchange, written);
  };
}

/** `PATCH /<kind>/<id>` */
export function patchHandler(kind: StoredKind): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const { box, confirmChanges } = exchange;
    const preconditions = readPreconditions(exchange);
    const patch = patchIn(exchange);
    const id = possibleIdIn(exchange, kind);
    const conditions = { preconditions, confirmChanges };
    const written = id === undefined ? undefined : await patchResource(services, { box, kind, id }, patch, conditions);
    if (written === undefined) throw nothingThere(kind);
    return writtenAnswer(exchange, written);
  };
}

/** `DELETE /<kind>/<id>` */
export function deleteHandler(kind: StoredKind): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const preconditions = readPreconditions(exchange);
    const id = possibleIdIn(exchange, kind);
    if (id === undefined) demandPreconditions(preconditions, undefined);
    const { box } = exchange;
    const deleted = id === undefined ? undefined : await deleteResource(services, { box, kind, id }, preconditions);
    return deleted === undefined ? { status: 204 } : { status: 200, body: storedView(deleted) };
  };
}

function writtenAnswer({ baseUrl }: ResourceExchange, { stored, created }: Written): ResourceAnswer {
  const headers = { ETag: entityTag(stored.version) };
  const body = storedView(stored);
  if (!created) return { status: 200, headers, body };
  return { status: 201, headers: { ...headers, Location: addressOf(baseUrl, stored) }, body };
}

/** Returns the address of a resource; its id needs no escape in a path. */
function addressOf(baseUrl: string, { kind, id }: StoredResource): string {
  return `${baseUrl}/${kind}/${id}`;
}

function nothingThere(kind: StoredKind): Problem {
  return new Problem('not-found', `There is no ${kind} with this id`);
}
