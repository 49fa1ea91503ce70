import type pg from 'pg';
import { errorFacts } from '../../program/log.ts';
import type { Log } from '../../program/log.ts';
import { startRounds } from '../../program/scheduling.ts';
import type { Rounds } from '../../program/scheduling.ts';
import { enterRestore, raiseBeat, readBeat, readEntries } from '../db/core/beats.ts';
import type { Beat, DatabaseEntry } from '../db/core/beats.ts';
import { takeLease } from '../db/box/box-upkeep.ts';
import { Outage } from '../db/core/outage.ts';
import type { Connections } from '../db/core/pool.ts';
import { requestLimit, withConnection } from '../db/core/with-connection.ts';

/** The restores of databases from a backup: what was lost with them must not come to life again. */
export interface Restores {
  /** Returns the time of the last restore of a database in microseconds since 1970; 0: none. */
  at(this: void, name: string): number;
  /** Checks on a new connection whether its database was restored since it was last known. Throws Outage. */
  verify(this: void, name: string, connection: pg.ClientBase): Promise<void>;
  /** Reads what is known of all databases, and checks that one which begins to serve. Throws Outage. */
  check(this: void, name?: string): Promise<void>;
  /** Starts to raise the beats of all databases. */
  follow(this: void): Rounds;
}

/** A database by its name. */
interface NamedPool {
  readonly name: string;
  readonly pool: Connections;
}

/** Milliseconds between two looks at what is known, and the milliseconds for which a replica raises the beats. */
const period = 2_000;
const leased = 8_000;

/** Creates the watch over the databases of an installation; `home` is the first of them. */
export function createRestores([home, ...others]: readonly [NamedPool, ...NamedPool[]], log: Log): Restores {
  const entries = new Map<string, DatabaseEntry>();

  async function read(): Promise<void> {
    const found = await withConnection(home.pool, requestLimit, readEntries);
    for (const entry of found) entries.set(entry.name, entry);
  }

  async function restored(name: string, beat: Beat): Promise<void> {
    log.error(
      { database: name },
      'the database was restored from a backup: its boxes wait for boxgate.dev/accept-data-loss',
    );
    await enterRestore(home.pool, name, beat);
    await read();
  }

  /**
   * Reads the beat of a database, judges it, and returns it. A replica knows less than the home database: what it would
   * judge as a restore it looks up again, as another replica may have raised the beat, or entered the restore.
   */
  async function judged(name: string, beatNow: () => Promise<Beat | undefined>): Promise<Beat | undefined> {
    const before = entries.get(name);
    const beat = await beatNow();
    if (beat === undefined || before === undefined) return beat;
    if (beat.beat < before.beat) {
      await read();
      if (beat.beat < (entries.get(name)?.beat ?? 0)) await restored(name, beat);
    } else if (beat.beat > before.next) {
      try {
        await read();
      } catch (error) {
        // The home database is away, and no reason to leave the others.
        if (error instanceof Outage) return beat;
        throw error;
      }
      if (beat.beat <= (entries.get(name)?.next ?? 0)) return beat;
      await restored(home.name, { beat: entries.get(home.name)?.beat ?? 0, now: beat.now });
      await raiseBeat(home.pool, name, poolOf(name), beat.beat);
    }
    return beat;
  }

  function poolOf(name: string): Connections {
    return others.find((other) => other.name === name)?.pool ?? home.pool;
  }

  const beatOf = (name: string): Promise<Beat | undefined> => withConnection(poolOf(name), requestLimit, readBeat);

  async function round(): Promise<void> {
    await read();
    if (!(await takeLease(home.pool, 'beats', leased))) return;
    for (const { name, pool } of others) {
      try {
        const beat = await judged(name, () => beatOf(name));
        if (beat !== undefined) await raiseBeat(home.pool, name, pool, Math.max(beat.now, beat.beat + 1));
      } catch (error) {
        // Its own boxes tell of its outage.
        if (!(error instanceof Outage)) throw error;
      }
    }
    await read();
  }

  return {
    at: (name) => entries.get(name)?.restoredAt ?? 0,
    async verify(name, connection) {
      if (name !== home.name) await judged(name, () => readBeat(connection));
    },
    async check(name) {
      await read();
      if (name !== undefined) await judged(name, () => beatOf(name));
    },
    follow: () =>
      startRounds(period, () =>
        round().catch((error: unknown) => {
          log.warn(errorFacts(error), 'the databases could not be checked for restores; it is tried again');
        }),
      ),
  };
}
