import type { SessionRecord } from '../../db/session/record.ts';
import type { SessionFilters } from '../../db/session/search.ts';
import { readSession } from '../../db/session/session.ts';
import { sessionSearch } from '../../resources/search/session-search.ts';
import type { ResourceServices } from '../../resources/services.ts';
import type { WriteConditions } from '../../resources/write/confirm-changes.ts';
import { changeSession, patchWish, putWish, revokeSession } from '../../resources/write/session-change.ts';
import type { SessionWish } from '../../resources/write/session-change.ts';
import { sessionView } from '../../resources/write/session-view.ts';
import { documentIn, patchIn } from '../formats/submitted-body.ts';
import type { Collection } from './collection.ts';
import { idIn, possibleId } from './id-in-path.ts';
import type { ResourceExchange } from './resource-exchange.ts';

/** The collection of sessions: grants create them, and a removed one stays, revoked. */
export const sessionCollection: Collection<'Session', SessionRecord, SessionFilters, string> = {
  kind: 'Session',
  path: '/Session',
  absent: 'There is no Session with this id',
  search: sessionSearch,
  view: sessionView,
  version: ({ status }) => status,
  idOf: (text) => possibleId('Session', text),
  read: (connection, box, id, now) => readSession(connection, box, { id }, now),
  put: (services, exchange, conditions) => change(services, exchange, putWish(documentIn(exchange)), conditions),
  patch: (services, exchange, conditions) => change(services, exchange, patchWish(patchIn(exchange)), conditions),
  remove: revokeSession,
};

async function change(
  services: ResourceServices,
  exchange: ResourceExchange,
  wish: SessionWish,
  conditions: WriteConditions,
): Promise<{ readonly row: SessionRecord } | undefined> {
  const id = possibleId('Session', idIn(exchange));
  const row = id === undefined ? undefined : await changeSession(services, exchange.box, { id, wish, ...conditions });
  return row && { row };
}
