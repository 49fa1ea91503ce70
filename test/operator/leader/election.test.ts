import { expect } from 'chai';
import { LeadershipLost, Election } from '../../../operator/leader/election.ts';
import type { Lease, LeaseStore } from '../../../operator/leader/lease.ts';
import { seededRandom } from '../../support/random.ts';
import { virtualTime, type VirtualTime } from '../../support/virtual-time.ts';

const duration = 15_000;

/** A Lease in memory, that writes over what was found only, and that people can edit. */
interface Shared {
  lease: Lease | undefined;
  edit(holder: string): void;
}

/** One replica: it can be cut off from the Lease, and its process be stopped for a while. */
interface Replica {
  readonly election: Election;
  isCut: boolean;
  /** Answers to its writes are lost; the writes are not. */
  isDeafened: boolean;
  freeze(): void;
  thaw(): void;
  hasLost: boolean;
  failures: number;
}

function sharedLease(): Shared {
  const shared: Shared = {
    lease: undefined,
    edit: (holder) => void (shared.lease = { holder, seconds: 15, version: nextVersion() }),
  };
  return shared;
}

let versions = 0;
function nextVersion(): string {
  versions += 1;
  return String(versions);
}

function replica(
  name: string,
  shared: Shared,
  time: VirtualTime,
  random: () => number,
  pod?: string,
  lasting = duration,
): Replica {
  let isFrozen = false;
  let held: (() => void)[] = [];
  const wire = { isCut: false, isDeafened: false, failures: 0 };
  /** A callback of a process that is stopped comes when it goes on. */
  const whenAwake = (callback: () => void) => () => {
    if (isFrozen) held.push(callback);
    else callback();
  };
  const store: LeaseStore = {
    async read() {
      await answer(wire.isCut);
      return shared.lease;
    },
    async write(found, holder) {
      await answer(wire.isCut);
      if (shared.lease?.version !== found?.version) return undefined;
      shared.lease = { holder, seconds: 15, version: nextVersion() };
      const written = shared.lease;
      await answer(wire.isDeafened);
      return written;
    },
  };

  /** Takes a while, as calls do; longer when there is no answer. */
  function answer(isLost: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = whenAwake(isLost ? () => reject(new Error('no answer')) : resolve);
      time.schedule(isLost ? 5_000 : 20 * random(), end);
    });
  }

  const election = new Election({
    store,
    random,
    duration: lasting,
    pod,
    identity: pod === undefined ? name : `${pod}_${name}`,
    now: () => time.now(),
    schedule: (wait, callback) => time.schedule(wait, whenAwake(callback)),
    onFailure: () => void (wire.failures += 1),
  });
  const self: Replica = Object.assign(wire, {
    election,
    hasLost: false,
    freeze: () => void (isFrozen = true),
    thaw() {
      isFrozen = false;
      const due = held;
      held = [];
      for (const callback of due) callback();
    },
  });
  election.lost.catch((error: unknown) => void (self.hasLost = error instanceof LeadershipLost));
  return self;
}

describe('an election', () => {
  let time: VirtualTime;
  let shared: Shared;
  let one: Replica;
  let other: Replica;
  beforeEach(() => {
    [time, shared] = [virtualTime(), sharedLease()];
  });

  async function twoReplicas(): Promise<void> {
    one = replica('one', shared, time, () => 0.5);
    await time.pass(3_000);
    other = replica('other', shared, time, () => 0.5);
    await time.pass(3_000);
    expect([one.election.leads(), other.election.leads()]).to.deep.equal([true, false]);
  }

  it('is won at once by who is alone, and lasts', async () => {
    await twoReplicas();
    await time.pass(3_600_000);
    expect([one.election.leads(), other.election.leads()]).to.deep.equal([true, false]);
    expect([one.election.isInformed(), other.election.isInformed()]).to.deep.equal([true, true]);
    expect([one.failures, other.failures]).to.deep.equal([0, 0]);
  });

  it('goes to the other one at its next look when the leader releases the Lease', async () => {
    await twoReplicas();
    const released = one.election.release();
    await time.pass(100);
    await released;
    expect(one.election.leads()).to.equal(false);
    await time.pass(2_500);
    expect(other.election.leads()).to.equal(true);
    expect(one.hasLost).to.equal(false);
  });

  it('is released in whole milliseconds also where a part of the Lease has a fraction', async () => {
    one = replica('one', shared, time, () => 0.5, undefined, 5_000);
    await time.pass(3_000);
    const released = one.election.release();
    await time.pass(2_000);
    await released;
    expect([shared.lease?.holder, one.failures]).to.deep.equal(['', 0]);
  });

  it('goes to the other one after its time when the leader is gone', async () => {
    await twoReplicas();
    one.freeze();
    await time.pass(duration - 3_000);
    expect(other.election.leads()).to.equal(false);
    await time.pass(7_000);
    expect(other.election.leads()).to.equal(true);
  });

  it('F-14: is lost by a leader that is cut off, before another one may lead', async () => {
    await twoReplicas();
    one.isCut = true;
    await time.pass(10_000);
    expect([one.hasLost, one.election.leads(), other.election.leads()]).to.deep.equal([true, false, false]);
    await time.pass(10_000);
    expect(other.election.leads()).to.equal(true);
    one.isCut = false;
    await time.pass(60_000);
    expect(one.election.leads()).to.equal(false);
  });

  it('F-14: is lost by a leader that was frozen, at the first question after it thaws', async () => {
    await twoReplicas();
    one.freeze();
    await time.pass(30_000);
    expect(one.election.leads()).to.equal(false);
    one.thaw();
    await time.pass(0);
    expect(one.hasLost).to.equal(true);
    await time.pass(60_000);
    expect([one.election.leads(), other.election.leads()]).to.deep.equal([false, true]);
  });

  it('F-15: is lost by a process that was blocked for 20 s, also when nobody else has taken the Lease', async () => {
    one = replica('one', shared, time, () => 0.5);
    await time.pass(3_000);
    one.freeze();
    await time.pass(20_000);
    one.thaw();
    await time.pass(5_000);
    expect([one.hasLost, one.election.leads()]).to.deep.equal([true, false]);
  });

  it('F-15: lasts in a process that was blocked for 5 s', async () => {
    await twoReplicas();
    one.freeze();
    await time.pass(5_000);
    one.thaw();
    await time.pass(60_000);
    expect([one.hasLost, one.election.leads()]).to.deep.equal([false, true]);
  });

  it('F-14: lasts when the Lease is deleted: the leader creates it again', async () => {
    await twoReplicas();
    shared.lease = undefined;
    await time.pass(60_000);
    expect([one.election.leads(), other.election.leads()]).to.deep.equal([true, false]);
    expect(shared.lease).to.have.property('holder', 'one');
  });

  it('F-14: lasts when the Lease is edited and its holder is not', async () => {
    await twoReplicas();
    shared.edit('one');
    await time.pass(60_000);
    expect([one.election.leads(), other.election.leads()]).to.deep.equal([true, false]);
  });

  it('F-14: is lost when the Lease is edited to be of somebody else, and goes on after its time', async () => {
    await twoReplicas();
    shared.edit('somebody');
    await time.pass(3_000);
    expect([one.hasLost, other.election.leads()]).to.deep.equal([true, false]);
    await time.pass(20_000);
    expect(other.election.leads()).to.equal(true);
  });

  it('lasts when the answer to a renewal is lost', async () => {
    await twoReplicas();
    one.isDeafened = true;
    await time.pass(6_000);
    one.isDeafened = false;
    await time.pass(60_000);
    expect([one.failures > 0, one.election.leads()]).to.deep.equal([true, true]);
  });

  it('is won at once by the next process of the pod that led', async () => {
    one = replica('first', shared, time, () => 0.5, 'pod-a');
    await time.pass(3_000);
    one.freeze();
    other = replica('second', shared, time, () => 0.5, 'pod-a');
    await time.pass(3_000);
    expect(other.election.leads()).to.equal(true);
  });

  it('is not informed while the Lease cannot be read', async () => {
    one = replica('one', shared, time, () => 0.5);
    one.isCut = true;
    await time.pass(30_000);
    expect([one.election.isInformed(), one.election.leads()]).to.deep.equal([false, false]);
    one.isCut = false;
    await time.pass(8_000);
    expect([one.election.isInformed(), one.election.leads()]).to.deep.equal([true, true]);
  });

  it('peer defect 4: a rolling update never has two leaders', async () => {
    let running = [0, 1].map(next);
    for (let round = 2; round < 12; round += 1) {
      const others = [...running, next(round)];
      await time.pass(4_000, () => expect(leaders(others)).to.be.at.most(1));
      const leaving = running[0]?.election.release();
      await time.pass(3_000, () => expect(leaders(others)).to.be.at.most(1));
      await leaving;
      running = others.slice(1);
      expect(leaders(running)).to.equal(1);
    }

    function next(nth: number): Replica {
      return replica(`replica-${String(nth)}`, shared, time, () => 0.5);
    }
  });

  it('I9: never has two leaders, whatever is cut off, frozen, or lost on its way', async () => {
    const chance = seededRandom();
    const random = (): number => chance.fraction();
    for (let round = 1; round <= 40; round += 1) {
      const [clock, common] = [virtualTime(), sharedLease()];
      const frozen = new Set<Replica>();
      const all: Replica[] = [];
      for (let step = 0; step < 60; step += 1) {
        if (all.filter(({ hasLost }) => !hasLost).length < 3) all.push(replica(String(step), common, clock, random));
        const chosen = all[Math.floor(random() * all.length)];
        if (chosen !== undefined) disturb(chosen, frozen, random());
        await clock.pass(random() * 12_000, () => {
          const awake = all.filter((each) => !frozen.has(each));
          expect(
            leaders(awake),
            `seed ${String(chance.seed)}, round ${String(round)}, step ${String(step)}`,
          ).to.be.at.most(1);
        });
      }
      for (const each of all) Object.assign(each, { isCut: false, isDeafened: false });
      for (const each of frozen) each.thaw();
      all.push(replica('last', common, clock, random));
      await clock.pass(60_000);
      expect(leaders(all), `seed ${String(chance.seed)}`).to.equal(1);
    }
  });
});

function leaders(replicas: readonly Replica[]): number {
  return replicas.filter(({ election }) => election.leads()).length;
}

function disturb(chosen: Replica, frozen: Set<Replica>, how: number): void {
  if (how < 0.2) chosen.isCut = !chosen.isCut;
  else if (how < 0.4) chosen.isDeafened = !chosen.isDeafened;
  else if (how < 0.7 && frozen.delete(chosen)) chosen.thaw();
  else if (how < 0.7) {
    frozen.add(chosen);
    chosen.freeze();
  }
}
