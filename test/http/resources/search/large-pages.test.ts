import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLargePages, inPageTurn } from '../../../../api/http/resources/large-pages.ts';
import { createInFlight } from '../../../../api/shares/in-flight.ts';

const reader = { box: 'busy', member: 'app' };

/** Begins as many pages of a box as are listed; returns which of them have started, and ends the first. */
function beginPages(queries: readonly string[], served: readonly string[]) {
  const inFlight = createInFlight();
  for (const box of served) inFlight.enter(box, 'here', 10);
  const parts = { largePages: createLargePages(), inFlight };
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const pages = queries.map((query, index) =>
    inPageTurn(parts, reader, new URLSearchParams(query), async () => {
      started.push(index);
      await new Promise<void>((resolve) => void ends.push(resolve));
      return index;
    }),
  );
  return { started, ends, pages };
}

describe('large pages', () => {
  it('R-06: of a box that is alone are read all at once', () => {
    expect(beginPages(['_count=1000', '_count=1000'], ['busy']).started).to.deep.equal([0, 1]);
  });

  it('R-06: of a box beside others are read one after the other', async () => {
    const { started, ends, pages } = beginPages(['_count=101', '_count=1000'], ['busy', 'other']);
    expect(started).to.deep.equal([0]);
    ends[0]?.();
    expect(await pages[0]).to.equal(0);
    while (ends.length < 2) await new Promise(setImmediate);
    ends[1]?.();
    expect(await pages[1]).to.equal(1);
  });

  it('R-06: are followed by a rest as long as the page took', async () => {
    const { ends, pages } = beginPages(['_count=1000', '_count=1000'], ['busy', 'other']);
    const begun = performance.now();
    await sleep(30);
    const ended = performance.now();
    ends[0]?.();
    await pages[0];
    while (ends.length < 2) await new Promise(setImmediate);
    // A timer may be a millisecond early.
    expect(performance.now() - ended).to.be.at.least(ended - begun - 2);
    ends[1]?.();
    await pages[1];
  });

  it('R-06: delay no smaller ones', () => {
    const queries = ['_count=1000', '_count=100', '', '_count=many'];
    expect(beginPages(queries, ['busy', 'other']).started).to.deep.equal([0, 1, 2, 3]);
  });

  it('R-06: pass on what goes wrong, and leave their place', async () => {
    const inFlight = createInFlight();
    inFlight.enter('other', 'here', 10);
    const parts = { largePages: createLargePages(), inFlight };
    const query = new URLSearchParams('_count=1000');
    const failing = inPageTurn(parts, reader, query, () => Promise.reject(new Error('no page'))).catch(String);
    expect(await failing).to.equal('Error: no page');
    expect(await inPageTurn(parts, reader, query, () => Promise.resolve('a page'))).to.equal('a page');
  });
});
