import { expect } from 'chai';
import { createWaitingLine } from '../../api/credentials/waiting-line.ts';
import { Outage } from '../../api/db/outage.ts';

describe('the line of those that wait for a thread', () => {
  /** Lets some wait, as `name tries`; tells in which order they get their turn, or that they are refused. */
  function waiters(...names: readonly string[]) {
    const line = createWaitingLine();
    const events: string[] = [];
    const waits = names.map(async (name) => {
      const [key = '', tries] = name.split(' ');
      await line.wait({ key, tries: Number(tries) }).then(
        () => events.push(name),
        (error: unknown) => events.push(`${name} ${error instanceof Outage ? 'refused' : String(error)}`),
      );
    });
    return { line, events, all: () => Promise.all(waits) };
  }

  it('gives turns to those that tried least often, and of those to the first come', async () => {
    const { line, events, all } = waiters('a 2', 'b 0', 'c 1', 'd 0');
    while (line.startNext());
    await all();
    expect(events).to.deep.equal(['b 0', 'd 0', 'c 1', 'a 2']);
    expect(line.length).to.equal(0);
  });

  it('gives the place of the last come of those that tried most often to who tried less', async () => {
    const { line, events, all } = waiters('a 3', 'b 3', 'c 1');
    expect([line.displace(3), line.displace(2), line.displace(2), line.displace(1)]).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    line.startNext();
    await all();
    expect(events).to.deep.equal(['b 3 refused', 'a 3 refused', 'c 1']);
  });

  it('gives a place among those that wait for one thing only, where that is asked', async () => {
    const { line, events, all } = waiters('a 9', 'b 2', 'b 1');
    expect(line.waitingFor('b')).to.equal(2);
    expect([line.displace(0, 'b'), line.displace(0, 'c')]).to.deep.equal([true, false]);
    while (line.startNext());
    await all();
    expect(events).to.deep.equal(['b 2 refused', 'b 1', 'a 9']);
  });
});
