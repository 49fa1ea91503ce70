import { expect } from 'chai';
import { createRefusalCount, largestUses } from '../../api/shares/resource-use.ts';

describe('the use of a shared resource', () => {
  it('counts refusals by box, and those of boxes beyond the bound together', () => {
    const count = createRefusalCount(2);
    for (const box of ['a', 'b', 'c', 'a', 'd']) count.add(box);
    expect([...count.byBox]).to.deep.equal([
      ['a', 2],
      ['b', 1],
      ['other', 2],
    ]);
  });

  it('names the boxes that use or wait most, and adds up the others', () => {
    const uses = ['a', 'b', 'c', 'd'].map((box, index) => ({ box, used: index, waiting: 10 * index }));
    expect(largestUses(uses, 2)).to.deep.equal([
      { box: 'd', used: 3, waiting: 30 },
      { box: 'c', used: 2, waiting: 20 },
      { box: 'other', used: 1, waiting: 10 },
    ]);
    expect(largestUses(uses.slice(0, 1), 2)).to.deep.equal(uses.slice(0, 1));
  });
});
