import { expect } from 'chai';
import fc from 'fast-check';
import { createByteBudget } from '../../api/shares/byte-budget.ts';
import type { ByteBudget } from '../../api/shares/byte-budget.ts';

const total = 1_000_000;

/** Takes pieces until the budget refuses one; returns the bytes taken. */
function takeAll(budget: ByteBudget, sharer: string, piece = 1_000): number {
  let taken = 0;
  while (budget.take(sharer, piece)) taken += piece;
  return taken;
}

describe('the budget of bytes', () => {
  it('gives a lone sharer nearly everything', () => {
    expect(takeAll(createByteBudget('bodies', total), 'a')).to.be.within(0.85 * total, 0.9 * total);
  });

  it('leaves a newcomer something after the first one took all that it could', () => {
    const budget = createByteBudget('bodies', total);
    takeAll(budget, 'a');
    expect(takeAll(budget, 'b')).to.be.at.least(0.1 * total);
  });

  it('refuses the one that holds much before the one that holds little', () => {
    const budget = createByteBudget('bodies', total);
    takeAll(budget, 'a');
    expect(budget.take('a', 10_000)).to.equal(false);
    expect(budget.take('b', 10_000)).to.equal(true);
  });

  it('has everything back when all was given back', () => {
    const budget = createByteBudget('bodies', total);
    expect(budget.take('a', 500_000)).to.equal(true);
    budget.giveBack('a', 500_000);
    expect(budget.used).to.equal(0);
    expect(takeAll(budget, 'a')).to.be.above(0.85 * total);
  });

  it('tells its use and its refusals', () => {
    const budget = createByteBudget('bodies', total);
    budget.take('a', 500_000);
    budget.take('a', 500_000);
    expect(budget.uses()).to.deep.equal([{ box: '', used: 500_000, waiting: 0 }]);
    expect([...budget.refusals()]).to.deep.equal([['', 1]]);
  });

  it('is never exceeded, and never refuses a piece to a sharer that holds less than its part', () => {
    const step = fc.record({ sharer: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 1, max: 60_000 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const budget = createByteBudget('bodies', total);
        const held = new Map<string, number>();
        for (const { sharer, bytes } of steps) {
          const before = held.get(sharer) ?? 0;
          if (budget.take(sharer, bytes)) held.set(sharer, before + bytes);
          else expect(before + bytes).to.be.above(total / 5);
          expect(budget.used).to.be.at.most(total);
        }
      }),
    );
  });
});
