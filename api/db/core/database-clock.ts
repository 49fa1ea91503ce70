import { errorFacts } from '../../../program/log.ts';
import type { Log } from '../../../program/log.ts';
import { startRounds } from '../../../program/scheduling.ts';
import type { Rounds } from '../../../program/scheduling.ts';
import { outsideBoxes } from './transaction.ts';
import type { Connections } from './pool.ts';

/** Milliseconds by which the clock of this machine may differ from that of Postgres and is used as it is. */
const tolerated = 1_000;

/** Milliseconds between two comparisons: a machine's clock that jumps is wrong for this long. */
const period = 10_000;

/** The clock of Postgres, within a second, as this process knows it: every replica compares the times of the others. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  now(this: void): number;
  /** Compares the machine's clock with that of Postgres, and logs a new correction. Throws Outage. */
  compare(this: void): Promise<void>;
  /** Starts to compare it every ten seconds. */
  follow(): Rounds;
}

/** Creates a clock that is the machine's until it is compared. `machine` is in milliseconds since 1970. */
export function createDatabaseClock(pool: Connections, log: Log, machine: () => number = Date.now): DatabaseClock {
  let correction = 0;

  async function compare(): Promise<void> {
    const { difference, took } = await outsideBoxes(pool, async (connection) => {
      const began = performance.now();
      const asked = machine();
      const { rows } = await connection.query<{ now: string }>(
        'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
      );
      const took = performance.now() - began;
      return { difference: Number(rows[0]?.now) - asked - took / 2, took };
    });
    // An answer that took long may be from any moment of that time.
    if (Math.abs(difference - correction) <= tolerated + took / 2) return;
    correction = Math.abs(difference) <= tolerated ? 0 : Math.round(difference);
    if (correction === 0) log.info({}, 'the clock of this machine is that of Postgres again');
    else log.warn({ ahead_ms: -correction }, 'the clock of this machine is not that of Postgres, and is corrected');
  }

  return {
    now: () => machine() + correction,
    compare,
    follow: () =>
      startRounds(period, () =>
        compare().catch((error: unknown) => {
          log.warn(errorFacts(error), 'the clock could not be compared with that of Postgres; it is tried again');
        }),
      ),
  };
}
