import { countSessions, readScope } from './search.ts';
import type { Connection } from '../core/transaction.ts';

/** Limit of the active sessions of one client. */
export interface ClientLimit {
  readonly box: string;
  readonly client: string;
  readonly most: number;
}

/** Milliseconds between counts of a client at its limit, however often it requests a token. */
const countEvery = 1_000;

/**
 * Reserves one more session for a client that has fewer than `most` active ones; otherwise returns false. `now` in
 * milliseconds since 1970. The client's row is locked until the transaction ends: two requests cannot share one place.
 */
export async function takeSessionRoom(connection: Connection, limit: ClientLimit, now: number): Promise<boolean> {
  if (await takeCounted(connection, limit)) return true;
  const { box, client, most } = limit;
  const found = await lockRoom(connection, limit);
  // Another request may have counted during the wait for the lock.
  if (found.most === most && found.room > 0) return takeCounted(connection, limit);
  if (found.most === most && found.fullAt !== undefined && Math.abs(now - found.fullAt) < countEvery) return false;
  const scope = await readScope(connection, box);
  const living = await countSessions(connection, { box, filters: { client, status: 'active' }, now, scope }, most);
  await connection.query(
    `UPDATE boxgate.session_room SET most = $3, room = $4, full_at = to_timestamp($5 / 1000.0)
      WHERE box = $1 AND client = $2`,
    [box, client, most, Math.max(most - living - 1, 0), living < most ? null : now],
  );
  return living < most;
}

async function takeCounted(connection: Connection, { box, client, most }: ClientLimit): Promise<boolean> {
  const { rowCount } = await connection.query(
    'UPDATE boxgate.session_room SET room = room - 1 WHERE box = $1 AND client = $2 AND most = $3 AND room > 0',
    [box, client, most],
  );
  return rowCount === 1;
}

interface Room {
  readonly most: number;
  readonly room: number;
  /** Milliseconds since 1970. */
  readonly fullAt: number | undefined;
}

async function lockRoom(connection: Connection, { box, client, most }: ClientLimit): Promise<Room> {
  await connection.query(
    `INSERT INTO boxgate.session_room (box, client, most, room) VALUES ($1, $2, $3, 0)
     ON CONFLICT DO NOTHING`,
    [box, client, most],
  );
  const { rows } = await connection.query<{ most: number; room: number; full_at: Date | null }>(
    'SELECT most, room, full_at FROM boxgate.session_room WHERE box = $1 AND client = $2 FOR UPDATE',
    [box, client],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no session_room of ${box}/${client}`);
  return { most: row.most, room: row.room, fullAt: row.full_at?.getTime() };
}
