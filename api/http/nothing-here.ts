import { Problem } from '../problem.ts';

/** The answer to an address where nothing is, also to one below a box that is not there: none tells which. */
export function nothingHere(): Problem {
  return new Problem('not-found', 'There is nothing at this address');
}
