import { expect } from 'chai';
import { activeBuckets, nearBuckets } from '../../../api/db/session/session-buckets.ts';
import { uuidAt } from '../../resources/sample-sessions.ts';

const day = 86_400_000;
const noon = Date.UTC(2030, 5, 15, 12);
const today = Math.floor(noon / day);

describe('the buckets of nearly every session', () => {
  /** Age of the session in days; days from today to those buckets that are read to end it. */
  const cases: Readonly<Record<string, readonly [number, readonly number[]]>> = {
    'of one that has just begun': [0, [30, 0, 1]],
    'of one from yesterday': [1, [29, 0]],
    'of one that may end today': [30, [0]],
    'of one that has expired': [31, []],
    'of one that begins tomorrow by the clock of another replica': [-1, [31, 1, 2]],
    'of an ID with a time in years to come': [-9_999, []],
  };
  for (const [what, [age, days]] of Object.entries(cases)) {
    it(`can hold an active session, ${what}: ${days.join(', ') || 'none'}`, () => {
      const buckets = activeBuckets(nearBuckets(uuidAt(noon - age * day)), noon);
      expect(buckets.map((bucket) => bucket - today)).to.deep.equal(days);
    });
  }
});
