import { expect } from 'chai';
import { LARGE_OBJECT } from '../../../operator/desired/declared.ts';
import {
  createLargeTurns,
  LARGE_TURN,
  type LargeTurn,
  type LargeTurns,
} from '../../../operator/reconcile/large-turns.ts';

const large = LARGE_OBJECT + 1;

describe('turns of large objects', () => {
  let time: number;
  let timers: { readonly at: number; readonly callback: () => void }[];
  let woken: string[];
  let turns: LargeTurns;
  beforeEach(() => {
    [time, timers, woken] = [0, [], []];
    turns = createLargeTurns({
      clock: () => time,
      schedule(wait, callback) {
        const timer = { at: time + wait, callback };
        timers.push(timer);
        return () => void (timers = timers.filter((one) => one !== timer));
      },
      wake: (box) => void woken.push(box),
    });
  });

  /** Lets so many milliseconds pass. */
  function pass(milliseconds: number): void {
    const end = time + milliseconds;
    for (;;) {
      const [next] = timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
      if (next === undefined) break;
      timers = timers.filter((one) => one !== next);
      time = next.at;
      next.callback();
    }
    time = end;
  }

  /** Begins the pass of a box that wants a large object. */
  function wanting(box: string): LargeTurn & { readonly isGranted: boolean } {
    const turn = turns.begin(box);
    const isGranted = turn.take(large);
    return { ...turn, isGranted };
  }

  it('R-53 never hold up a small object', () => {
    const holder = wanting('large');
    for (let nth = 0; nth < 1_000; nth += 1) expect(turns.begin('other').take(LARGE_OBJECT)).to.equal(true);
    expect(holder.take(LARGE_TURN)).to.equal(true);
    expect(holder.take(large)).to.equal(false);
    expect(holder.take(LARGE_OBJECT)).to.equal(true);
    expect(woken).to.deep.equal([]);
  });

  it('R-53 of a box alone are followed by a rest three times as long, until another box has a pass', () => {
    const rests = [];
    for (const isAlone of [true, false, true]) {
      if (!isAlone) turns.begin('small').end(true);
      const turn = wanting('a');
      expect(turn.isGranted).to.equal(true);
      expect(turn.take(LARGE_TURN)).to.equal(true);
      expect(turn.take(large)).to.equal(false);
      pass(100);
      turn.end(true);
      woken = [];
      const began = time;
      while (woken.length === 0) pass(50);
      rests.push(time - began);
      turns.begin('a').end(true);
      pass(10_000);
    }
    expect(rests).to.deep.equal([300, 700, 300]);
  });

  it('R-53 belong to one box at a time, and are followed by a rest seven times as long where there are others', () => {
    const first = wanting('a');
    expect(first.isGranted).to.equal(true);
    const second = wanting('b');
    expect(second.isGranted).to.equal(false);
    second.end(true);
    pass(300);
    first.end(true);
    pass(2_099);
    expect(wanting('a').isGranted).to.equal(false);
    expect(woken).to.deep.equal([]);
    pass(1);
    expect(woken).to.deep.equal(['b']);
    expect(wanting('a').isGranted).to.equal(false);
    expect(wanting('b').isGranted).to.equal(true);
  });

  it('R-53 carry so many characters, at least one object, and go on in the order of the boxes', () => {
    const first = turns.begin('a');
    expect(first.take(LARGE_TURN * 4)).to.equal(true);
    expect(first.take(large)).to.equal(false);
    expect(first.isRefused).to.equal(true);
    wanting('b').end(true);
    pass(100);
    first.end(true);
    pass(700);
    expect(woken).to.deep.equal(['a']);
    const again = turns.begin('a');
    for (let sum = 0; sum < LARGE_TURN; sum += 60_000) expect(again.take(60_000)).to.equal(true);
    expect(again.take(60_000)).to.equal(false);
    again.end(true);
    pass(0);
    expect(woken).to.deep.equal(['a', 'b']);
    wanting('b').end(true);
    pass(0);
    expect(woken).to.deep.equal(['a', 'b', 'a']);
  });

  it('R-53 pass over a box that has nothing large any more, or never comes', () => {
    const first = wanting('a');
    for (const box of ['b', 'c', 'd']) wanting(box).end(true);
    first.end(true);
    pass(0);
    expect(woken).to.deep.equal(['b']);
    turns.begin('b').end(true);
    expect(woken).to.deep.equal(['b', 'c']);
    pass(2_000);
    expect(woken).to.deep.equal(['b', 'c', 'd']);
    expect(wanting('d').isGranted).to.equal(true);
  });

  it('R-53 of a pass that hangs end without it, and the large objects of others go on', () => {
    const hanging = wanting('a');
    wanting('b').end(true);
    pass(16_000);
    expect(woken).to.deep.equal(['b']);
    expect(hanging.take(large)).to.equal(false);
    const other = wanting('b');
    expect(other.isGranted).to.equal(true);
    hanging.end(true);
    expect(other.take(large)).to.equal(true);
    expect(wanting('c').isGranted).to.equal(false);
  });

  it('R-53 repeat no pass that failed: the queue does, after its wait', () => {
    const first = turns.begin('a');
    first.take(LARGE_TURN);
    expect(first.take(large)).to.equal(false);
    first.end(false);
    pass(10_000);
    expect(woken).to.deep.equal([]);
    expect(wanting('b').isGranted).to.equal(true);
  });

  it('call nobody after they were stopped', () => {
    const first = wanting('a');
    wanting('b').end(true);
    first.end(true);
    turns.stop();
    pass(10_000);
    expect(woken).to.deep.equal([]);
  });
});
