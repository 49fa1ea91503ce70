import type { Connection } from '../../db/core/transaction.ts';
import type { SessionRecord } from '../../db/session/record.ts';
import { readScope, searchSessions } from '../../db/session/search.ts';

/** Clients whose sessions a plan may revoke; undefined: any of the box. */
export type AffectedClients = readonly string[] | undefined;

/** Active sessions of the affected clients. */
export interface ActiveSessions {
  readonly sessions: readonly SessionRecord[];
  /** True if there are more than were read. */
  readonly more: boolean;
}

/** Limits of one reading: clients that are looked up, and sessions. */
const most = { clients: 500, sessions: 1_000 } as const;

/** Reads the active sessions of the clients that a plan affects, up to a limit. `now` in milliseconds since 1970. */
export async function activeSessions(
  connection: Connection,
  box: string,
  clients: AffectedClients,
  now: number,
): Promise<ActiveSessions> {
  const scope = await readScope(connection, box);
  const found: SessionRecord[] = [];
  let more = clients !== undefined && clients.length > most.clients;
  for (const client of clients === undefined ? [undefined] : clients.slice(0, most.clients)) {
    const span = { limit: most.sessions - found.length, offset: 0, descending: true, backward: false };
    const search = { box, filters: { client, status: 'active' as const }, now, scope };
    const page = await searchSessions(connection, search, span);
    found.push(...page.rows);
    more ||= page.more;
    if (found.length >= most.sessions) break;
  }
  return { sessions: found, more };
}
