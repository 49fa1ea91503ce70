import { addFailures, countFailures } from '../../db/client-auth/failed-attempt.ts';
import { batchBounds, batchesOn } from '../../db/hot/statement-batches.ts';
import type { Connections } from '../../db/core/pool.ts';
import { endAll, tooManyAttempts } from './throttle.ts';
import type { Attempt } from './throttle.ts';

/** A limit on failures that holds for all addresses and replicas together. */
export interface SharedLimit {
  /** Name of the guessed subject; see the column `subject` of `failed_attempt`. */
  readonly subject: string;
  /** Failures in one period. */
  readonly most: number;
}

/** Counts failed attempts in Postgres, for all replicas together; see {@link createSharedFailures}. */
export interface SharedFailures {
  /** Begins an attempt under some limits of a box. Throws Problem `throttled` if one of them is reached, and Outage. */
  begin(box: string, limits: readonly SharedLimit[]): Promise<Attempt>;
}

/**
 * Creates a count of failures with periods of `period` milliseconds of the clock `now`. Attempts in progress in this
 * process count as failures until they end. Replicas together may exceed a limit by their attempts in progress.
 */
export function createSharedFailures(pool: Connections, period: number, now: () => number): SharedFailures {
  const batch = batchesOn(pool, batchBounds);
  const [count, add] = [batch(countFailures), batch(addFailures)];
  const underWay = new Map<string, number>();

  /** Begins an attempt under one limit. Throws Problem `throttled` and Outage; the attempt is then not counted. */
  async function beginOne(box: string, { subject, most }: SharedLimit): Promise<Attempt> {
    const endsAt = Math.ceil((Math.floor(now() / period) + 1) * (period / 1000));
    const name = `${box} ${subject}`;
    const others = underWay.get(name) ?? 0;
    const attempt: Attempt = {
      async failed() {
        await add({ box, subject, endsAt });
      },
      end: () => {
        change(underWay, name, -1);
      },
    };
    change(underWay, name, 1);
    try {
      if ((await count({ box, subject, endsAt })) + others < most) return attempt;
      throw tooManyAttempts(endsAt - now() / 1000);
    } catch (error) {
      attempt.end();
      throw error;
    }
  }

  return {
    async begin(box, limits) {
      const begun = await Promise.allSettled(limits.map((limit) => beginOne(box, limit)));
      const attempts = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const refused = begun.find((one) => one.status === 'rejected');
      if (refused === undefined) return together(attempts);
      endAll(attempts);
      throw refused.reason;
    },
  };
}

function change(numbers: Map<string, number>, key: string, by: 1 | -1): void {
  const sum = (numbers.get(key) ?? 0) + by;
  if (sum === 0) numbers.delete(key);
  else numbers.set(key, sum);
}

function together(attempts: readonly Attempt[]): Attempt {
  return {
    async failed() {
      await Promise.all(attempts.map(async (one) => one.failed()));
    },
    end: () => {
      endAll(attempts);
    },
  };
}
