import { expect } from 'chai';
import { oneAtATime } from '../../../api/http/management/one-at-a-time.ts';

describe('oneAtATime', () => {
  it('begins the next when the one before has ended, also when that failed', async () => {
    const inTurn = oneAtATime();
    const events: string[] = [];
    const ends: ((fail: boolean) => void)[] = [];
    const work = (name: string) => () =>
      new Promise<string>((resolve, reject) => {
        events.push(`${name} begins`);
        ends.push((fail) => {
          events.push(`${name} ends`);
          if (fail) reject(new Error(name));
          else resolve(name);
        });
      });
    const outcomes = Promise.allSettled(['a', 'b', 'c'].map((name) => inTurn(work(name))));
    for (const fail of [false, true, false]) {
      await new Promise(setImmediate);
      ends.shift()?.(fail);
    }
    expect((await outcomes).map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(events).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });
});
