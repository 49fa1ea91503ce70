import { expect } from 'chai';
import { createRequeueTimers, type RequeueTimers } from '../../../operator/reconcile/requeue-timers.ts';

describe('wake-ups', () => {
  let time: number;
  let timers: { wait: number; callback: () => void }[];
  let woken: string[];
  let wakeUps: RequeueTimers;
  beforeEach(() => {
    [time, timers, woken] = [1_000, [], []];
    const schedule = (wait: number, callback: () => void) => {
      const timer = { wait, callback };
      timers.push(timer);
      return () => void (timers = timers.filter((one) => one !== timer));
    };
    wakeUps = createRequeueTimers(
      (key) => void woken.push(key),
      () => new Date(time),
      schedule,
    );
  });
  const waits = (): number[] => timers.map(({ wait }) => wait);

  it('wake each key at its time, and once', () => {
    wakeUps.runAt('a', 1_500);
    wakeUps.runAt('b', 900);
    expect(waits()).to.deep.equal([500, 0]);
    for (const { callback } of timers) callback();
    expect(woken).to.deep.equal(['a', 'b']);
  });

  it('know one time for each key, the last that was said', () => {
    wakeUps.runAt('a', 1_500);
    wakeUps.runAt('a', 1_500);
    expect(waits()).to.deep.equal([500]);
    wakeUps.runAt('a', 1_200);
    expect(waits()).to.deep.equal([200]);
    wakeUps.runAt('a', undefined);
    expect(waits()).to.deep.equal([]);
  });

  it('wake early rather than wait for longer than a timer can', () => {
    wakeUps.runAt('a', time + 400 * 86_400_000);
    expect(waits()).to.deep.equal([86_400_000]);
  });

  it('wake nobody after they were stopped', () => {
    wakeUps.runAt('a', 1_500);
    wakeUps.stop();
    wakeUps.runAt('b', 1_500);
    expect(waits()).to.deep.equal([]);
  });
});
