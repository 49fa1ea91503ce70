import { expect } from 'chai';
import { setNewest } from '../../program/bounded-map.ts';

describe('a map of the newest entries', () => {
  it('drops the oldest one when there are too many, and counts one that is stored again as new', () => {
    const map = new Map<string, number>();
    for (const [nth, key] of ['a', 'b', 'a', 'c'].entries()) setNewest(map, key, nth, 2);
    expect([...map]).to.deep.equal([
      ['a', 2],
      ['c', 3],
    ]);
    setNewest(map, 'c', 4, 2);
    expect([...map.keys()]).to.deep.equal(['a', 'c']);
  });
});
