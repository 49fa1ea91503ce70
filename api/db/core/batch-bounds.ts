import { Problem } from '../../problem.ts';
import { Outage, toOutage } from './outage.ts';

/** Limits of a batch: requests in a statement, statements in flight, requests that may wait, and for how long. */
export interface BatchLimits {
  readonly size: number;
  /** Boxes whose requests share a statement; any number if absent. */
  readonly boxes?: number;
  readonly inFlight: number;
  /** Requests that must wait for a statement to begin beside one in flight, and milliseconds after which it is slow. */
  readonly beside: number;
  readonly slow: number;
  readonly waiting: number;
  /** Milliseconds after which a request fails because Postgres does not answer. */
  readonly patience: number;
}

/**
 * Default limits: two connections were as good as more, and statements for 32 requests or more took an eighth less CPU
 * of Postgres (measured). A batch of a few hundred takes milliseconds.
 */
export const defaultBatchLimits: BatchLimits = {
  size: 256,
  inFlight: 2,
  beside: 32,
  slow: 5,
  waiting: 20_000,
  patience: 1_600,
};

/** The bounds of every batch of requests, with the default limits. */
export const batchBounds = {
  ...defaultBatchLimits,
  overflow: (why: 'displaced' | 'full') =>
    why === 'full'
      ? new Outage('too many requests wait for Postgres')
      : new Problem('throttled', 'Too many requests of this box wait for Postgres. Try again in 1 s', {
          'Retry-After': '1',
        }),
  overdue: () => new Outage('Postgres does not answer'),
};

/** Checks whether an error means that Postgres cannot answer: retrying a batch's items one by one would be useless. */
export function isOutage(error: unknown): boolean {
  return toOutage(error) instanceof Outage;
}
