import { expect } from 'chai';
import { Steps, STEPS_PER_DECISION, TooManySteps } from '../../api/policy/steps.ts';

describe('steps', () => {
  it('last for as many as are allowed, and then for none', () => {
    const steps = new Steps(10);
    steps.take(9.5);
    steps.take(0.5);
    steps.take(0);
    expect(() => steps.take(0.5)).to.throw(TooManySteps);
    expect(() => steps.take(0)).to.throw(TooManySteps, `${STEPS_PER_DECISION}`);
  });
});
