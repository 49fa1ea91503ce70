import type { SessionRecord } from '../../db/session/record.ts';
import { Problem } from '../../problem.ts';
import { withElements } from '../../resources/search/bundle.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../resources/write/etag.ts';
import type { ResourceServices } from '../../resources/services.ts';
import { readElementsOnly, readSearch, refuseParameters } from '../../resources/search/parameters.ts';
import { changeSession, getSession, patchWish, putWish, revokeSession } from '../../resources/write/session-change.ts';
import type { SessionWish } from '../../resources/write/session-change.ts';
import { searchStoredSessions, sessionSearch } from '../../resources/search/session-search.ts';
import { sessionView } from '../../resources/write/session-view.ts';
import { possibleIdIn } from './id-in-path.ts';
import type { ResourceAnswer, ResourceExchange, ResourceHandler } from './resource-exchange.ts';
import { searchAnswer } from './search-answer.ts';
import { documentIn, patchIn } from '../formats/submitted-body.ts';

/** `GET /Session` */
export const searchSessionsHandler: ResourceHandler = async (exchange, services) => {
  const request = readSearch(exchange.query, sessionSearch);
  const result = await searchStoredSessions(services, exchange.box, request);
  return searchAnswer(exchange, { kind: 'Session', viewOf: sessionView }, request, result);
};

/** `GET /Session/<id>` */
export const getSessionHandler: ResourceHandler = async (exchange, services) => {
  const elements = readElementsOnly(exchange.query, sessionSearch.elements);
  const preconditions = readPreconditions(exchange);
  const id = possibleIdIn(exchange, 'Session');
  const session = id === undefined ? undefined : await getSession(services, exchange.box, id);
  if (session === undefined) throw nothingThere();
  const { status, headers, body } = sessionAnswer(session);
  if (isKnown(preconditions, session.status)) return { status: 304, headers: { ...headers } };
  return { status, headers: { ...headers }, body: withElements(body, elements) };
};

/** `PUT /Session/<id>`: sessions are issued, so this creates none. */
export const putSessionHandler: ResourceHandler = (exchange, services) =>
  change(exchange, services, putWish(documentIn(exchange)));

/** `PATCH /Session/<id>` */
export const patchSessionHandler: ResourceHandler = (exchange, services) =>
  change(exchange, services, patchWish(patchIn(exchange)));

/** `DELETE /Session/<id>`: revokes it and keeps the record. */
export const revokeSessionHandler: ResourceHandler = async (exchange, services) => {
  refuseParameters(exchange.query);
  const preconditions = readPreconditions(exchange);
  const id = possibleIdIn(exchange, 'Session');
  if (id === undefined) demandPreconditions(preconditions, undefined);
  const session = id === undefined ? undefined : await revokeSession(services, exchange.box, id, preconditions);
  return session === undefined ? { status: 204 } : sessionAnswer(session);
};

async function change(
  exchange: ResourceExchange,
  services: ResourceServices,
  wish: SessionWish,
): Promise<ResourceAnswer> {
  refuseParameters(exchange.query);
  const preconditions = readPreconditions(exchange);
  const id = possibleIdIn(exchange, 'Session');
  const { box, confirmChanges } = exchange;
  const session =
    id === undefined ? undefined : await changeSession(services, box, { id, wish, preconditions, confirmChanges });
  if (session === undefined) throw nothingThere();
  return sessionAnswer(session);
}

/** Creates the answer; the status is the version, because nothing else of a session changes. */
function sessionAnswer(session: SessionRecord) {
  return { status: 200, headers: { ETag: entityTag(session.status) }, body: sessionView(session) } as const;
}

function nothingThere(): Problem {
  return new Problem('not-found', 'There is no Session with this id');
}
