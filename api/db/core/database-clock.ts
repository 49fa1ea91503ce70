import { outsideBoxes } from './transaction.ts';
import type { Connections } from './pool.ts';

/** Milliseconds by which the clock of this machine may differ from that of Postgres and is used as it is. */
const tolerated = 1_000;

/** The clock of Postgres, within a second, as this process knows it: every replica has the same. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  now(this: void): number;
  /**
   * Compares the machine's clock with that of Postgres. Returns the milliseconds that are added to it if they are
   * others from now on, otherwise undefined. Throws Outage.
   */
  compare(this: void): Promise<{ readonly correction: number } | undefined>;
}

/** Creates a clock that is the machine's until it is compared. `machine` is in milliseconds since 1970. */
export function createDatabaseClock(pool: Connections, machine: () => number): DatabaseClock {
  let correction = 0;
  return {
    now: () => machine() + correction,
    async compare() {
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
      if (Math.abs(difference - correction) <= tolerated + took / 2) return undefined;
      correction = Math.abs(difference) <= tolerated ? 0 : Math.round(difference);
      return { correction };
    },
  };
}
