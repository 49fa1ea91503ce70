import { expect } from 'chai';
import { waitAfter } from '../../../operator/reconcile/work-queue.ts';

const backOff = { first: 200, ceiling: 30_000 };

describe('waitAfter', () => {
  const cases: [failures: number, random: number, wait: number][] = [
    [1, 0, 100],
    [1, 0.999, 200],
    [2, 0, 200],
    [3, 0.5, 600],
    [8, 0, 12_800],
    [9, 0, 15_000],
    [9, 0.999, 29_985],
    [1_000_000, 0, 15_000],
  ];
  for (const [failures, random, wait] of cases) {
    it(`waits ${String(wait)} ms after failure ${String(failures)} at random ${String(random)}`, () => {
      expect(waitAfter(failures, backOff, () => random)).to.equal(wait);
    });
  }
});
