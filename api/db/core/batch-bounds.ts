import { Problem } from '../../problem.ts';
import type { BatchLimits } from './batch.ts';
import { Outage } from './outage.ts';

/**
 * Limits of every batch of requests: two connections were as good as more, and statements for 32 requests or more took
 * an eighth less CPU of Postgres (measured). A batch of a few hundred takes milliseconds.
 */
export const batchBounds: BatchLimits = {
  size: 256,
  inFlight: 2,
  beside: 32,
  slow: 5,
  waiting: 20_000,
  patience: 1_600,
  overflow: (why) =>
    why === 'full'
      ? new Outage('too many requests wait for Postgres')
      : new Problem('throttled', 'Too many requests of this box wait for Postgres. Try again in 1 s', {
          'Retry-After': '1',
        }),
  overdue: () => new Outage('Postgres does not answer'),
};
