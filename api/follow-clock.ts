import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { startRounds } from '../program/scheduling.ts';
import { createDatabaseClock } from './db/core/database-clock.ts';
import type { Connections } from './db/core/pool.ts';

/** The clock of the service, which follows that of Postgres: every replica compares the times of the others. */
export interface FollowedClock {
  /** Milliseconds since 1970. */
  now(this: void): number;
  /** Compares the machine's clock with that of Postgres, and logs a new correction. Throws Outage. */
  compare(): Promise<void>;
  /** Starts to compare it every ten seconds. */
  follow(): { stop(): Promise<void> };
}

/** Milliseconds between two comparisons: a machine's clock that jumps is wrong for this long. */
const period = 10_000;

/** Creates the clock of the service; it is that of the machine until it is compared. */
export function createFollowedClock(pool: Connections, log: Log): FollowedClock {
  const clock = createDatabaseClock(pool, Date.now);
  const compare = async (): Promise<void> => {
    const moved = await clock.compare();
    if (moved === undefined) return;
    if (moved.correction === 0) log.info({}, 'the clock of this machine is that of Postgres again');
    else
      log.warn({ ahead_ms: -moved.correction }, 'the clock of this machine is not that of Postgres, and is corrected');
  };
  return {
    now: clock.now,
    compare,
    follow: () =>
      startRounds(period, async () => {
        await compare().catch((error: unknown) => {
          log.warn(errorFacts(error), 'the clock could not be compared with that of Postgres; it is tried again');
        });
      }),
  };
}
