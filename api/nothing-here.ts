import { Problem } from './problem.ts';

/** Creates the 404 for an unknown path; one below an unknown box gets the same, so that it does not reveal boxes. */
export function nothingHere(): Problem {
  return new Problem('not-found', 'There is nothing at this address');
}
