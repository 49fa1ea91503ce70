import { GRANT_LETTERS } from '../../db/session/grant-letter.ts';
import type { GrantLetter } from '../../db/session/grant-letter.ts';
import { countSessions, scopeIn, searchSessions, selectScope, sessionOrder } from '../../db/session/search.ts';
import type { SessionFilters } from '../../db/session/search.ts';
import type { SessionRecord } from '../../db/session/record.ts';
import type { SessionStatus } from '../../db/session/session-status.ts';
import { inBoxAfter } from '../../db/core/transaction.ts';
import { readDates } from './dates.ts';
import { search } from './search.ts';
import type { Searchable } from './searchable.ts';
import { clientIdIn, readUserId, readUuid, readWord } from './values.ts';
import { sessionElements, sessionTypes } from '../write/session-view.ts';

const statuses = ['active', 'expired', 'closed', 'revoked'] as const satisfies readonly SessionStatus[];

/** Search parameters for Session. */
export const sessionSearch: Searchable<SessionRecord, SessionFilters> = {
  elements: new Set(sessionElements),
  // An id begins with the time of its creation: one order, two names.
  sorts: { created_at: sessionOrder, id: sessionOrder },
  sort: '-created_at',
  filters: {
    id: (text, name) => ({ id: readUuid(name, text, 'session') }),
    client: (text) => ({ client: clientIdIn(text) }),
    user: (text, name) => ({ user: readUserId(name, text) }),
    type: (text, name) => ({ type: readType(name, text) }),
    status: (text, name) => ({ status: readWord(name, text, statuses) }),
  },
  ranges: {
    created_at: (texts, name) => ({ createdAt: readDates(name, texts) }),
    expires_at: (texts, name) => ({ expiresAt: readDates(name, texts) }),
  },
  find: ({ pool, now }, box, request) =>
    inBoxAfter(pool, box, { mode: 'snapshot', statement: selectScope }, (connection, rows) => {
      const scoped = { box, filters: request.filters, now: now(), scope: scopeIn(rows) };
      return search(request, {
        count: (most) => countSessions(connection, scoped, most),
        read: (span, total) => searchSessions(connection, scoped, span, total),
        keyOf: ({ id }) => [id],
      });
    }),
};

function readType(name: string, text: string): GrantLetter | undefined {
  const type = readWord(name, text, Object.values(sessionTypes));
  return GRANT_LETTERS.find((letter) => sessionTypes[letter] === type);
}
