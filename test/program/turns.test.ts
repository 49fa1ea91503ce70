import { expect } from 'chai';
import { createTurns } from '../../program/scheduling.ts';

describe('turns', () => {
  it('are given to others once the work has held the event loop for 4 ms', async () => {
    let now = 0;
    const turn = createTurns(() => now);
    expect(turn()).to.equal(undefined);
    now = 3;
    expect(turn()).to.equal(undefined);
    now = 4;
    let wasOthersTurn = false;
    setImmediate(() => (wasOthersTurn = true));
    await turn();
    expect(wasOthersTurn).to.be.true;
    expect(turn()).to.equal(undefined);
  });
});
