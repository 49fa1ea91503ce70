import { expect } from 'chai';
import { createLoopTime, loopTurns } from '../../../api/http/server/loop-time.ts';
import { createInFlight } from '../../../api/shares/in-flight.ts';
import type { InFlight } from '../../../api/shares/in-flight.ts';
import { virtualTime } from '../../support/virtual-time.ts';

/** Milliseconds of each slice: long beside a round of the event loop. */
const long = 30;

function work(): void {
  const end = performance.now() + long;
  while (performance.now() < end);
}

/** Returns the rounds of the event loop between two slices of a box, the second of which waited for the first. */
async function roundsBetweenSlices(inFlight: InFlight): Promise<number> {
  const turn = loopTurns({ loopTime: createLoopTime(), inFlight }, { box: 'busy', member: '' });
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  const seen: number[] = [];
  const slice = (): void => {
    seen.push(rounds);
    work();
  };
  count();
  await Promise.all([turn(slice), turn(slice)]);
  isOver = true;
  const [first = 0, second = 0] = seen;
  return second - first;
}

describe('long work on the event loop', () => {
  it('R-05: is followed by a round of other work where no other box is being served', async () => {
    const inFlight = createInFlight();
    inFlight.enter('busy', 'here', 10);
    expect(await roundsBetweenSlices(inFlight)).to.be.within(1, 5);
  });

  it('R-05: rests while another box is being served, so that a short request meets one slice of it', async () => {
    const time = virtualTime();
    const inFlight = createInFlight(() => time.now());
    inFlight.enter('busy', 'here', 10);
    inFlight.enter('other', 'here', 10);
    expect(await roundsBetweenSlices(inFlight)).to.be.above(20);
    inFlight.leave('other', 'here');
    await time.pass(1_000);
    expect(await roundsBetweenSlices(inFlight)).to.be.within(1, 5);
  });
});
