import type pg from 'pg';
import type { Connections } from './pool.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/*
 * A beat is a number that a database of the installation and its entry in the home database have in common, and that
 * rises every few seconds. A database with a lower one than its entry has was restored from a backup; one with a higher
 * one than was meant for it tells that the home database was.
 */

/** The entry of a database in the home database. Numbers are microseconds since 1970. */
export interface DatabaseEntry {
  readonly name: string;
  /** The last beat that it is known to have. */
  readonly beat: number;
  /** The beat that was meant for it last. */
  readonly next: number;
  /** The time of its last restore; 0: none. Boxes at an older config version may lack data. */
  readonly restoredAt: number;
}

/** A beat, and the present time of the clock of its database; both in microseconds since 1970. */
export interface Beat {
  readonly beat: number;
  readonly now: number;
}

type Querying = Pick<pg.ClientBase, 'query'>;

/** Reads the entries of all databases in the home database. */
export async function readEntries(connection: Querying): Promise<readonly DatabaseEntry[]> {
  const { rows } = await connection.query<Record<'name' | 'beat' | 'next' | 'restored_at', string>>(
    'SELECT name, beat, next, restored_at FROM boxgate.database',
  );
  return rows.map(({ name, beat, next, restored_at }) => {
    return { name, beat: Number(beat), next: Number(next), restoredAt: Number(restored_at) };
  });
}

/** Reads the beat of a database; undefined before `boxgate migrate` has entered it. */
export async function readBeat(connection: Querying): Promise<Beat | undefined> {
  const { rows } = await connection.query<Record<'beat' | 'now', string>>(
    'SELECT beat, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now FROM boxgate.identity',
  );
  return rows[0] === undefined ? undefined : { beat: Number(rows[0].beat), now: Number(rows[0].now) };
}

/** Raises the beat of a database: its entry tells before and after. Throws Outage. */
export async function raiseBeat(home: Connections, name: string, pool: Connections, next: number): Promise<void> {
  await run(home, 'UPDATE boxgate.database SET next = $2 WHERE name = $1 AND next < $2', [name, next]);
  await run(pool, 'UPDATE boxgate.identity SET beat = $1 WHERE beat < $1', [next]);
  await run(home, 'UPDATE boxgate.database SET beat = $2 WHERE name = $1 AND beat < $2', [name, next]);
}

/** Enters that a database was restored; its beats go on from the one that it has. Throws Outage. */
export async function enterRestore(home: Connections, name: string, { beat, now }: Beat): Promise<void> {
  const text = `UPDATE boxgate.database SET restored_at = greatest(restored_at, $3), beat = $2, next = $2 WHERE name = $1`;
  await run(home, text, [name, beat, now]);
}

function run(pool: Connections, text: string, values: readonly (string | number)[]): Promise<void> {
  return withConnection(pool, requestLimit, async (connection) => {
    await connection.query(text, [...values]);
  });
}
