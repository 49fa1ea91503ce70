import { expect } from 'chai';
import { createLongLists } from '../../../api/db/core/long-lists.ts';

describe('the memory of long lists', () => {
  const clock = { now: 1_000_000 };

  it('tells the state that was noted last of each box, for a minute', () => {
    const lists = createLongLists(() => clock.now);
    expect(lists.stateOf('shop')).to.equal(undefined);
    lists.note('shop', 'first');
    lists.note('other', 'its own');
    clock.now += 59_999;
    expect([lists.stateOf('shop'), lists.stateOf('other')]).to.deep.equal(['first', 'its own']);
    lists.note('shop', 'second');
    clock.now += 1;
    expect([lists.stateOf('shop'), lists.stateOf('other')]).to.deep.equal(['second', undefined]);
    clock.now += 60_000;
    expect(lists.stateOf('shop')).to.equal(undefined);
  });

  it('keeps the 10,000 boxes that were noted last', () => {
    const lists = createLongLists(() => clock.now);
    for (let nth = 0; nth < 10_000; nth += 1) lists.note(`box-${String(nth)}`, 'long');
    lists.note('box-0', 'again');
    lists.note('one-more', 'long');
    const found = ['box-0', 'box-1', 'box-2', 'one-more'].map((box) => lists.stateOf(box));
    expect(found).to.deep.equal(['again', undefined, 'long', 'long']);
  });
});
