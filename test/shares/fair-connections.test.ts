import { expect } from 'chai';
import { createConnectionQueues, sharedConnections } from '../../api/fair-connections.ts';
import { createInFlight } from '../../api/shares/in-flight.ts';

const connections = 4;

/** Work that runs until it is told to end. */
function steered() {
  let running = 0;
  const ends: (() => void)[] = [];
  return {
    work: () => {
      running += 1;
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    running: () => running,
    endAll: () => {
      for (const end of ends) end();
    },
  };
}

describe('the connections that boxes share', () => {
  const never = { connect: () => Promise.reject(new Error('no connection is needed')) };
  const requestTime = 1_500;
  const applyTime = 60_000;

  function turns(inFlight = createInFlight()) {
    const shared = sharedConnections(never, createConnectionQueues(connections, inFlight));
    return (box: string, patience: number, work: () => Promise<void>) =>
      Promise.resolve(shared.turns?.(box, patience, work));
  }

  it('R-06 serve one box by half while others get tokens, which need none of them, and by all once they do not', async () => {
    let now = 0;
    const inFlight = createInFlight(() => now);
    const take = turns(inFlight);
    const searches = steered();
    inFlight.enter('victim', 'here', 1);
    const all = Array.from({ length: 2 * connections }, () => take('busy', requestTime, searches.work));
    await new Promise((resolve) => setImmediate(resolve));
    expect(searches.running()).to.equal(connections / 2);
    inFlight.leave('victim', 'here');
    now += 2_000;
    all.push(take('busy', requestTime, searches.work));
    searches.endAll();
    await new Promise((resolve) => setImmediate(resolve));
    expect(searches.running()).to.equal(connections / 2 + connections);
    const next = setInterval(searches.endAll, 1);
    await Promise.all(all);
    clearInterval(next);
  });

  it('R-06 never all serve long transactions: a request finds one while every box is being applied', async () => {
    const take = turns();
    const applies = steered();
    const all = ['a', 'b', 'c', 'd', 'e'].map((box) => take(box, applyTime, applies.work));
    await new Promise((resolve) => setImmediate(resolve));
    expect(applies.running()).to.equal(connections / 2);
    let served = false;
    await take('victim', requestTime, async () => void (served = true));
    expect(served).to.equal(true);
    const next = setInterval(applies.endAll, 1);
    await Promise.all(all);
    clearInterval(next);
    expect(applies.running()).to.equal(5);
  });

  it('R-06 all serve a box that is alone', async () => {
    const take = turns();
    const searches = steered();
    const all = Array.from({ length: 10 }, () => take('alone', requestTime, searches.work));
    await new Promise((resolve) => setImmediate(resolve));
    expect(searches.running()).to.equal(connections);
    const next = setInterval(searches.endAll, 1);
    await Promise.all(all);
    clearInterval(next);
  });
});
