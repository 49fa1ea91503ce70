import { schedule } from '../../program/scheduling.ts';

/** A clock that only moves forward, and callbacks at a later time of it. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /** Calls back after `wait` milliseconds, unless the returned function is called first. */
  schedule(wait: number, callback: () => void): () => void;
}

/** The clock of the process. */
export const processClock: Clock = {
  now: () => performance.now(),
  schedule,
};
