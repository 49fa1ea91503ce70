import { expect } from 'chai';
import { createInFlight } from '../../api/shares/in-flight.ts';
import { virtualTime } from '../support/virtual-time.ts';

describe('the requests in flight', () => {
  it('R-06 tell whether another box is served now', () => {
    const inFlight = createInFlight();
    inFlight.enter('busy', 'here', 10);
    expect(inFlight.isAnyBeside('busy')).to.equal(false);
    inFlight.enter('other', 'here', 10);
    expect(inFlight.isAnyBeside('busy')).to.equal(true);
  });

  it('leave room for others, however many one network has', () => {
    const inFlight = createInFlight();
    const enter = (network: string, times: number) => {
      const outcomes = Array.from({ length: times }, () => inFlight.enter('shop', network, 2000));
      return { entered: outcomes.filter((one) => one === 'entered').length, last: outcomes.at(-1) };
    };
    expect(enter('one', 3000)).to.deep.equal({ entered: 1750, last: 'share' });
    expect(enter('two', 100)).to.deep.equal({ entered: 100, last: 'entered' });
    expect(enter('one', 1).last).to.equal('share');
    for (let left = 1000; left > 0; left -= 1) inFlight.leave('shop', 'one');
    expect(enter('one', 1).last).to.equal('entered');
    expect(inFlight.enter('other', 'one', 2000)).to.equal('entered');
  });

  it('let a network use all of a small quota', () => {
    for (const most of [1, 2, 3, 7]) {
      const inFlight = createInFlight();
      for (let left = most; left > 0; left -= 1) expect(inFlight.enter('shop', 'one', most)).to.equal('entered');
      expect(inFlight.enter('shop', 'one', most)).to.equal('quota');
    }
  });

  it('R-06 remember for a second that another box was served, however often the asking one is meanwhile', async () => {
    const time = virtualTime();
    const inFlight = createInFlight(() => time.now());
    for (const box of ['other', 'busy', 'busy']) {
      inFlight.enter(box, 'here', 10);
      inFlight.leave(box, 'here');
    }
    await time.pass(999);
    expect(inFlight.isAnyBeside('busy')).to.equal(true);
    expect(inFlight.isAnyBeside('other')).to.equal(true);
    await time.pass(1);
    expect(inFlight.isAnyBeside('busy')).to.equal(false);
  });
});
