import { expect } from 'chai';
import { createCountedEvents } from '../../api/audit/counted-events.ts';
import type { CountedEvent, CountedLimits } from '../../api/audit/counted-events.ts';

const minute = 60_000;

function failure(over: Partial<CountedEvent> & { readonly remoteAddr?: string } = {}): CountedEvent {
  const { remoteAddr = '192.0.2.1', ...rest } = over;
  const origin = { remoteAddr, requestId: 'first' };
  return { box: 'shop', event: 'user.sign_in_failed', result: 'failure', target: 'User/1', origin, ...rest };
}

describe('counted events', () => {
  const clock = { now: 1_000_000 };

  function counting(limits: Partial<CountedLimits> = {}) {
    return createCountedEvents(
      { failures: 100, denials: 100, successes: 100, records: 1_000, taken: 1_000, ...limits },
      () => clock.now,
    );
  }

  it('record the first event at once, and further ones of the minute as one record at its end', () => {
    const events = counting();
    events.note(failure());
    expect(events.take().map(({ count, target, requestId }) => [count, target, requestId])).to.deep.equal([
      [1, 'User/1', 'first'],
    ]);
    for (let times = 0; times < 5; times += 1) events.note(failure());
    clock.now += minute - 1;
    expect(events.take()).to.deep.equal([]);
    clock.now += 1;
    expect(events.take().map(({ count }) => count)).to.deep.equal([5]);
    clock.now += minute;
    expect(events.take()).to.deep.equal([]);
    events.note(failure());
    expect(events.take().map(({ count }) => count)).to.deep.equal([1]);
  });

  it('are apart by box, event, result, address and target', () => {
    const events = counting();
    const different: readonly Parameters<typeof failure>[0][] = [
      {},
      { box: 'other' },
      { event: 'user.throttled' },
      { result: 'denied' },
      { remoteAddr: '192.0.2.2' },
      { target: 'User/2' },
      { target: undefined },
    ];
    for (const one of [...different, ...different]) events.note(failure(one));
    expect(events.take().map(({ count }) => count)).to.deep.equal(different.map(() => 2));
  });

  it('name nobody who took part in only some of them', () => {
    const events = counting();
    const by = (client: string, session: string) =>
      failure({ event: 'access.denied', result: 'denied', origin: { remoteAddr: '192.0.2.1', client, session } });
    events.note(by('app', 's1'));
    expect(events.take().map(({ client, session }) => [client, session])).to.deep.equal([['app', 's1']]);
    for (const session of ['s1', 's2']) events.note(by('app', session));
    clock.now += minute;
    expect(events.take().map(({ client, session, count }) => [client, session, count])).to.deep.equal([
      ['app', undefined, 2],
    ]);
    for (const client of ['innocent', 'attacker', 'innocent']) events.note(by(client, 's1'));
    clock.now += minute;
    expect(events.take().map(({ client, remoteAddr, count }) => [client, remoteAddr, count])).to.deep.equal([
      [undefined, '192.0.2.1', 3],
    ]);
  });

  it('of failures are not displaced by requests that no policy grants', () => {
    const events = counting({ denials: 2 });
    for (let nth = 0; nth < 100; nth += 1) {
      events.note(failure({ event: 'access.denied', result: 'denied', target: `User/${String(nth)}` }));
    }
    events.note(failure());
    const taken = events.take();
    expect(taken).to.have.length(4);
    expect(taken.find(({ event }) => event === 'user.sign_in_failed')).to.include({ target: 'User/1', count: 1 });
  });

  it('beyond the share of their box are counted by their kind alone, so that a box has few records a minute', () => {
    const events = counting({ failures: 3 });
    for (let nth = 0; nth < 1_000; nth += 1) events.note(failure({ remoteAddr: `192.0.2.${String(nth)}` }));
    const taken = events.take();
    expect(taken.map(({ count, remoteAddr }) => [count, remoteAddr])).to.deep.equal([
      [1, '192.0.2.0'],
      [1, '192.0.2.1'],
      [1, '192.0.2.2'],
      [997, undefined],
    ]);
    expect(taken[3]).to.include({ target: undefined, requestId: undefined });
    for (let nth = 0; nth < 1_000; nth += 1) events.note(failure({ remoteAddr: `198.51.100.${String(nth)}` }));
    expect(events.take()).to.deep.equal([]);
    events.note(failure({ box: 'other' }));
    expect(events.take().map(({ box }) => box)).to.deep.equal(['other']);
  });

  it('that succeeded have a share of their own, which failures do not use up', () => {
    const events = counting({ failures: 1 });
    for (const remoteAddr of ['a', 'b', 'c']) events.note(failure({ remoteAddr }));
    events.note({ box: 'shop', event: 'user.signed_in', target: 'User/5', origin: { user: 5 } });
    expect(events.take().at(-1)).to.include({ event: 'user.signed_in', result: 'success', target: 'User/5', user: 5 });
  });

  it('of all boxes together are bounded: the number of those that are not counted is known', () => {
    const events = counting({ records: 2 });
    for (const box of ['a', 'b', 'c', 'c']) events.note(failure({ box }));
    expect(events.take().map(({ box }) => box)).to.deep.equal(['a', 'b']);
    expect(events.refused).to.equal(2);
    clock.now += minute;
    events.take();
    events.note(failure({ box: 'c' }));
    expect(events.take().map(({ box }) => box)).to.deep.equal(['c']);
  });

  it('are taken in parts, so that many of them do not hold up the requests of others', () => {
    const events = counting({ taken: 2 });
    for (const remoteAddr of ['a', 'b', 'c', 'd', 'e']) events.note(failure({ remoteAddr }));
    const parts = [events.take(), events.take(), events.take(), events.take()];
    expect(parts.map((part) => part.length)).to.deep.equal([2, 2, 1, 0]);
    expect(new Set(parts.flat().map(({ remoteAddr }) => remoteAddr))).to.have.property('size', 5);
  });

  it('are taken before their minute is over when the process stops', () => {
    const events = counting();
    events.note(failure());
    events.take();
    events.note(failure());
    expect(events.take(true).map(({ count }) => count)).to.deep.equal([1]);
    expect(events.take(true)).to.deep.equal([]);
  });
});
