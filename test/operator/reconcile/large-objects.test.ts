import { expect } from 'chai';
import { setImmediate as breathe } from 'node:timers/promises';
import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import type { Declared } from '../../../operator/desired/declared.ts';
import type { TerminatingObject } from '../../../operator/reconcile/finalizers.ts';
import { createLargeTurns, LARGE_TURN, type LargeTurns } from '../../../operator/reconcile/large-turns.ts';
import { startReconciler } from '../../../operator/reconcile/reconciler.ts';
import { startApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { declared, keyClient, machineClient } from '../declare.ts';
import { memoryKeeper, memorySource } from '../memory-source.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';
import { plainOptions } from '../reconciler-options.ts';
import { recordedEvents } from '../status/recorded-events.ts';

const size = 60_000;
/** Objects of a turn: it ends with the one that reaches its characters. */
const inTurn = Math.ceil(LARGE_TURN / size);

/** Clients of 60,000 characters each, the oldest first. */
function largeClients(count: number, namespace = 'default'): readonly Declared[] {
  const spec = { ...keyClient, details: { text: 'x'.repeat(size - 500) } };
  return Array.from({ length: count }, (_, nth) => {
    const created = `2026-01-01T00:00:${String(nth + 10)}Z`;
    return declared('Client', `large-${String(nth)}`, spec, { namespace, created, length: size });
  });
}

describe('a pass over a box with large objects', () => {
  let rig: PassRig;
  let turns: LargeTurns;
  let rest: () => void;
  let woken: string[];
  eachInBox((made) => {
    [rig, woken] = [made, []];
    turns = createLargeTurns({
      clock: () => 0,
      schedule(_wait, callback) {
        rest = callback;
        return () => undefined;
      },
      wake: (box) => void woken.push(box),
    });
  });

  /** Runs a pass in a turn of the box. */
  async function pass(objects: readonly Declared[]): Promise<string> {
    const turn = turns.begin(rig.box);
    rig.large = turn;
    const remainder = await rig.pass(objects);
    turn.end(true);
    return remainder;
  }

  it('R-53 applies and publishes the small ones while another box has its turn, and the large ones in its own', async () => {
    const other = turns.begin('other');
    other.take(size);
    const objects = [machineClient('small'), ...largeClients(inTurn + 1)];
    expect(await pass(objects)).to.equal('large');
    expect(await rig.token('small')).to.equal(200);
    expect([...rig.source.statuses.keys()]).to.deep.equal(['Client/small']);
    other.end(true);
    expect(woken).to.deep.equal([]);
    rest();
    expect(woken).to.deep.equal([rig.box]);
    // What a turn applies it writes in the next one: both cost as much.
    const sizes: number[] = [];
    for (let before = 1; (await pass(objects)) === 'large'; before = rig.source.published) {
      sizes.push(rig.source.published - before);
      rest();
    }
    expect(Math.max(...sizes)).to.be.at.most(inTurn);
    for (const { key } of objects) expect(rig.condition(key)).to.equal('True/Ready');
    expect(rig.source.published).to.equal(objects.length);
    expect(rig.calls.map((lines) => lines.filter(({ id }) => id.startsWith('large')).length)).to.include(inTurn);
    for (const lines of rig.calls) expect(JSON.stringify(lines).length).to.be.below(LARGE_TURN + size * 2);
  });

  it('R-53 sends an object behind a large one that waits in the order of their age, as the quota counts them', async () => {
    const young = { ...machineClient('young'), created: '2027' };
    turns.begin('other').take(size);
    expect(await pass([...largeClients(1), young])).to.equal('large');
    expect(rig.calls.flat().filter((line) => 'resource' in line)).to.deep.equal([]);
  });

  it('R-53 tells the API a quota although all that it has to send waits', async () => {
    await pass([]);
    rig.source.quota = { quota: { clients: 0 } };
    turns.begin('other').take(size);
    await pass(largeClients(1));
    expect(rig.calls.at(-1)).to.deep.equal([]);
    expect(rig.cache.stored.quota).to.include('"clients":0');
  });

  it('R-53 releases deleted objects in turns', async () => {
    const objects = largeClients(inTurn * 2);
    let going: TerminatingObject[] = [];
    const released: number[] = [];
    rig.source.finalizers = {
      add: () => Promise.resolve(),
      refusals: () => new Map(),
      terminating: () => going,
      async remove(_box, some) {
        released.push(some.length);
        going = going.filter(({ uid }) => some.every((one) => one.uid !== uid));
      },
    };
    await rig.pass(objects);
    going = objects.map(({ kind, namespace, name, uid }) => ({ kind, namespace, name, uid, length: size, waited: 0 }));
    while (going.length > 0) {
      await pass([]);
      rest();
    }
    expect(released).to.deep.equal([inTurn, inTurn]);
  });
});

describe('two boxes with large objects beside a small one', () => {
  it('R-53 are written one at a time, and the small one at once', async () => {
    const api = await startApi();
    const source = memorySource();
    const [large, small] = [[...largeClients(12, 'large-a'), ...largeClients(12, 'large-b')], machineClient('app')];
    let changed: (box: string) => void = () => undefined;
    source.watch = (onChange) => void (changed = onChange);
    const writing = new Set<string>();
    const seen: string[] = [];
    const order: string[] = [];
    source.writeStatus = async (box, statuses) => {
      const count = statuses.filter(({ name }) => name.startsWith('large')).length;
      for (const { namespace, name } of statuses) order.push(`${namespace}/${name}`);
      if (count === 0) return;
      writing.add(box);
      seen.push(`${String(writing.size)} with ${String(count)}`);
      for (let turn = 0; turn < 20; turn += 1) await breathe();
      writing.delete(box);
      if (!source.objects.includes(small)) {
        source.objects = [...source.objects, small];
        changed('default');
      }
    };
    const reconciler = startReconciler({
      ...plainOptions(api.url),
      source,
      keeper: memoryKeeper(),
      cluster: 'turns',
      events: recordedEvents(),
      onFailure: () => undefined,
      management: createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) }),
    });
    try {
      await reconciler.firstRound;
      source.objects = large;
      changed('large-a');
      changed('large-b');
      await eventually('all are written', () => new Set(order).size === large.length + 1);
      expect(new Set(seen.map((text) => text.split(' ')[0]))).to.deep.equal(new Set(['1']));
      for (const text of seen) expect(Number(text.split(' ').at(-1))).to.be.at.most(inTurn);
      expect(order).to.have.length(large.length + 1);
      expect(order.indexOf('default/app')).to.be.below(large.length);
    } finally {
      await reconciler.stop();
      await api.stop();
    }
  });
});
