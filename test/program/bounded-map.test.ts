import { expect } from 'chai';
import { BoundedMap } from '../../program/bounded-map.ts';

describe('a map of the newest entries', () => {
  it('drops the oldest one when there are too many, and counts one that is stored again as new', () => {
    const map = new BoundedMap<number>(2);
    for (const [nth, key] of ['a', 'b', 'a', 'c'].entries()) map.setNewest(key, nth);
    expect([...map]).to.deep.equal([
      ['a', 2],
      ['c', 3],
    ]);
    map.setNewest('c', 4);
    expect([...map.keys()]).to.deep.equal(['a', 'c']);
    map.delete('a');
    for (const key of ['d', 'e', 'c']) map.setNewest(key, 5);
    expect([...map.keys()]).to.deep.equal(['e', 'c']);
  });
});
