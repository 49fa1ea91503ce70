import type { Connection } from '../../db/core/transaction.ts';
import { readActiveSessions, stillActiveSessions } from '../../db/session/active-sessions.ts';
import type { SessionRecord } from '../../db/session/record.ts';

/** Clients whose sessions a plan may revoke; undefined: any of the box. */
export type AffectedClients = readonly string[] | undefined;

/** Active sessions of the affected clients. */
export interface ActiveSessions {
  readonly sessions: readonly SessionRecord[];
  /** True if there are more than were read. */
  readonly more: boolean;
}

/** Limits of one reading: clients that are looked up, and sessions. */
const most = { clients: 2_000, sessions: 1_000 } as const;

/** Reads the active sessions of the clients that a plan affects, up to a limit. `now` in milliseconds since 1970. */
export async function activeSessions(
  connection: Connection,
  box: string,
  affected: AffectedClients,
  now: number,
): Promise<ActiveSessions> {
  if (affected?.length === 0) return { sessions: [], more: false };
  const clients = affected?.slice(0, most.clients);
  const found = await readActiveSessions(connection, { box, clients, now, limit: most.sessions + 1 });
  const isCut = affected !== undefined && affected.length > most.clients;
  return { sessions: found.slice(0, most.sessions), more: isCut || found.length > most.sessions };
}

/** Reads the IDs of those sessions that are still active. */
export async function stillActive(
  connection: Connection,
  box: string,
  { sessions }: ActiveSessions,
  now: number,
): Promise<ReadonlySet<string>> {
  const left = await stillActiveSessions(connection, box, sessions, now);
  return new Set(left.map(({ id }) => id));
}
