import { expect } from 'chai';
import { look, mayTake, type Lease, type Sight } from '../../../operator/leader/lease.ts';

const me = { identity: 'pod-b_2', pod: 'pod-b', duration: 15_000 };

function lease(holder: string, more: Partial<Lease> = {}): Lease {
  return { holder, seconds: 15, version: '7', ...more };
}

function seen(found: Lease | undefined, more: Partial<Sight> = {}): Sight {
  return { lease: found, since: 1_000, wasHeld: true, ...more };
}

describe('a Lease', () => {
  const rows: readonly (readonly [what: string, sight: Sight, after: number, may: boolean])[] = [
    ['that nobody ever made is there to take', seen(undefined, { wasHeld: false }), 0, true],
    ['that was deleted counts as held', seen(undefined), 14_999, false],
    ['that was deleted is created again when its time is over', seen(undefined), 15_000, true],
    ['that was released is there to take', seen(lease('')), 0, true],
    ['of another one is not', seen(lease('pod-a_1')), 14_999, false],
    ['of another one is, when it has not changed for its time', seen(lease('pod-a_1')), 15_000, true],
    ['of another one counts for as long as that one says', seen(lease('pod-a_1', { seconds: 60 })), 59_999, false],
    ['of another one counts no less than our own time', seen(lease('pod-a_1', { seconds: 1 })), 14_999, false],
    ['that was edited to count for years counts five minutes', seen(lease('x', { seconds: 1e9 })), 299_999, false],
    ['that was edited to count for years is taken then', seen(lease('x', { seconds: 1e9 })), 300_000, true],
    ['that is ours is ours', seen(lease('pod-b_2')), 0, true],
    ['of an earlier process of our pod is there to take', seen(lease('pod-b_1')), 0, true],
    ['of a pod whose name begins like ours is not', seen(lease('pod-b2_1')), 14_999, false],
  ];
  for (const [what, sight, after, may] of rows) {
    it(`${what} (after ${String(after)} ms: ${may ? 'yes' : 'no'})`, () => {
      expect(mayTake(sight, me, sight.since + after)).to.equal(may);
    });
  }

  it('of our own host is not ours where no pod is known', () => {
    expect(mayTake(seen(lease('undefined_1')), { ...me, pod: undefined }, 1_000)).to.equal(false);
  });

  it('is seen again with every version, whatever times are written in it', () => {
    const first = look(undefined, lease('pod-a_1', { version: '1' }), 10);
    expect(first).to.deep.equal({ lease: lease('pod-a_1', { version: '1' }), since: 10, wasHeld: true });
    expect(look(first, lease('pod-a_1', { version: '1' }), 20)).to.equal(first);
    expect(look(first, lease('pod-a_1', { version: '2' }), 20).since).to.equal(20);
    expect(look(first, undefined, 30)).to.deep.equal({ lease: undefined, since: 30, wasHeld: true });
  });

  it('that is missing at the first look was not held, also not later', () => {
    const first = look(undefined, undefined, 10);
    expect(look(first, undefined, 20)).to.deep.equal({ lease: undefined, since: 10, wasHeld: false });
  });
});
