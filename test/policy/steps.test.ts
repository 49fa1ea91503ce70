import { expect } from 'chai';
import { MILLISECONDS_PER_DECISION, Steps, STEPS_PER_DECISION, TooManySteps } from '../../api/policy/steps.ts';

describe('steps', () => {
  it('last for as many as are allowed, and then for none', () => {
    const steps = new Steps(10);
    steps.take(9.5);
    steps.take(0.5);
    steps.take(0);
    expect(() => steps.take(0.5)).to.throw(TooManySteps);
    expect(() => steps.take(0)).to.throw(TooManySteps, `${STEPS_PER_DECISION}`);
  });

  it('R-01 read no clock in an ordinary decision', () => {
    const steps = new Steps(undefined, () => {
      throw new Error('the clock was read');
    });
    for (let call = 0; call < 50; call += 1) steps.take(1);
  });

  for (const [size, calls] of [
    [0, 600],
    [1, 150],
    [1000, 1],
  ] as const) {
    it(`R-01 end with the time, in calls that take ${String(size)} each`, () => {
      const asked: number[] = [];
      const isOver = (milliseconds: number) => {
        asked.push(milliseconds);
        return true;
      };
      const steps = new Steps(undefined, () => ({ isOver }));
      expect(() => {
        for (let call = 0; call < calls; call += 1) steps.take(size);
      }).to.throw(TooManySteps, `${String(MILLISECONDS_PER_DECISION)} ms`);
      expect(asked).to.deep.equal([MILLISECONDS_PER_DECISION]);
      expect(() => steps.take(0)).to.throw(TooManySteps);
    });
  }
});
