import { expect } from 'chai';
import { createInFlight } from '../../api/shares/in-flight.ts';
import { virtualTime } from '../support/virtual-time.ts';

describe('the requests in flight', () => {
  it('R-06 tell whether another box is served now', () => {
    const inFlight = createInFlight();
    inFlight.enter('busy', 10);
    expect(inFlight.isAnyBeside('busy')).to.equal(false);
    inFlight.enter('other', 10);
    expect(inFlight.isAnyBeside('busy')).to.equal(true);
  });

  it('R-06 remember for a second that another box was served, however often the asking one is meanwhile', async () => {
    const time = virtualTime();
    const inFlight = createInFlight(() => time.now());
    for (const box of ['other', 'busy', 'busy']) {
      inFlight.enter(box, 10);
      inFlight.leave(box);
    }
    await time.pass(999);
    expect(inFlight.isAnyBeside('busy')).to.equal(true);
    expect(inFlight.isAnyBeside('other')).to.equal(true);
    await time.pass(1);
    expect(inFlight.isAnyBeside('busy')).to.equal(false);
  });
});
