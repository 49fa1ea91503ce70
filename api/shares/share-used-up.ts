import { Problem } from '../problem.ts';

/** Seconds after which a sharer that used up its share may try again. */
const retryAfter = '1';

/** Creates the Problem `throttled` (429 with Retry-After) of a box that wants more than its share of `noun`. */
export function shareUsedUp(noun: string): Problem {
  const message = `Too many requests of this box wait for ${noun}. Try again in ${retryAfter} s`;
  return new Problem('throttled', message, { 'Retry-After': retryAfter });
}
