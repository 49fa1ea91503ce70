import { expect } from 'chai';
import { createListLengths } from '../../../api/db/core/list-lengths.ts';
import type { ListLength } from '../../../api/db/core/list-lengths.ts';

describe('the memory of the lengths of lists', () => {
  const clock = { now: 1_000_000 };
  const medium: ListLength = { is: 'medium' };
  const longIn = (state: string): ListLength => ({ is: 'long', state });

  it('tells what was noted last of each box, for a minute', () => {
    const lengths = createListLengths(() => clock.now);
    expect(lengths.of('shop')).to.equal(undefined);
    lengths.note('shop', longIn('first'));
    lengths.note('other', medium);
    clock.now += 59_999;
    expect([lengths.of('shop'), lengths.of('other')]).to.deep.equal([longIn('first'), medium]);
    lengths.note('shop', longIn('second'));
    clock.now += 1;
    expect([lengths.of('shop'), lengths.of('other')]).to.deep.equal([longIn('second'), undefined]);
    clock.now += 60_000;
    expect(lengths.of('shop')).to.equal(undefined);
  });

  it('keeps the 10,000 boxes that were noted last', () => {
    const lengths = createListLengths(() => clock.now);
    for (let nth = 0; nth < 10_000; nth += 1) lengths.note(`box-${String(nth)}`, medium);
    lengths.note('box-0', longIn('again'));
    lengths.note('one-more', medium);
    const found = ['box-0', 'box-1', 'box-2', 'one-more'].map((box) => lengths.of(box));
    expect(found).to.deep.equal([longIn('again'), undefined, medium, medium]);
  });
});
