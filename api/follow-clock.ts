import { errorFacts } from '../process/log.ts';
import type { Log } from '../process/log.ts';
import { startRounds } from '../process/rounds.ts';
import { createDatabaseClock } from './db/core/database-clock.ts';
import type { Connections } from './db/core/pool.ts';

/** The clock of the service, which follows that of Postgres. */
export interface FollowedClock {
  /** Milliseconds since 1970. */
  now(this: void): number;
  stop(): Promise<void>;
}

/** Milliseconds between two comparisons: a machine's clock that jumps is wrong for this long. */
const period = 10_000;

/**
 * Compares the machine's clock with that of Postgres, now and every ten seconds. Times of tokens and of
 * `revoke_sessions_before` are compared by every replica, so all of them need one clock.
 */
export async function followClock(pool: Connections, log: Log): Promise<FollowedClock> {
  const clock = createDatabaseClock(pool, Date.now);
  const compare = async (): Promise<void> => {
    try {
      const ahead = await clock.compare();
      if (ahead !== undefined) log.warn({ ahead_ms: ahead }, 'the clock of this machine is not that of Postgres');
    } catch (error) {
      log.warn(errorFacts(error), 'the clock could not be compared with that of Postgres; it is tried again');
    }
  };
  await compare();
  const rounds = startRounds(period, compare);
  return { now: clock.now, stop: () => rounds.stop() };
}
