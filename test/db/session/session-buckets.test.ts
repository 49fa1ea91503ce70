import { expect } from 'chai';
import { nearBuckets } from '../../../api/db/session/session-buckets.ts';
import { uuidAt } from '../../records/sample-sessions.ts';

const day = 86_400_000;
const noon = Date.UTC(2030, 5, 15, 12);
const today = Math.floor(noon / day);

describe('the buckets of nearly every session', () => {
  it('are those of the default lifetime, of a few hours, and of a day', () => {
    expect(nearBuckets(uuidAt(noon)).map((bucket) => bucket - today)).to.deep.equal([30, 0, 1]);
  });
});
