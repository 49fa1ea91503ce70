import { expect } from 'chai';
import { setTimeout } from 'node:timers/promises';
import { startThreadTimer } from '../../api/policy/steps.ts';

describe('thread timer', () => {
  it('is over once the thread has worked for the time', () => {
    const timer = startThreadTimer();
    expect(timer.isOver(60_000)).to.be.false;
    const used = process.threadCpuUsage();
    while (process.threadCpuUsage(used).user < 20_000) Math.random();
    expect(timer.isOver(5)).to.be.true;
  });

  it('does not count the time in which the thread waits', async () => {
    const timer = startThreadTimer();
    await setTimeout(300);
    expect(timer.isOver(250)).to.be.false;
  });
});
