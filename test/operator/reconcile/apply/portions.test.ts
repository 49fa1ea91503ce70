import { expect } from 'chai';
import { createManagement } from '../../../../api/client/management.ts';
import { Secret } from '../../../../api/client/secret.ts';
import type { Declared } from '../../../../operator/desired/declared.ts';
import { PORTION } from '../../../../operator/reconcile/apply/portions.ts';
import { startReconciler } from '../../../../operator/reconcile/reconciler.ts';
import { startApi } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { declared, keyClient, machineClient } from '../../declare.ts';
import { memoryKeeper, memorySource } from '../../memory-source.ts';
import { eachInBox, type PassRig } from '../../pass-rig.ts';
import { plainOptions } from '../../reconciler-options.ts';
import { recordedEvents } from '../../status/recorded-events.ts';

/** Clients of 60,000 characters each, the oldest first: 18 of them are a portion. */
function largeClients(count: number, box = 'default'): readonly Declared[] {
  const details = { text: 'x'.repeat(60_000) };
  return Array.from({ length: count }, (_, nth) =>
    declared(
      'Client',
      `large-${String(nth)}`,
      { ...keyClient, details },
      { namespace: box, created: `2026-01-01T00:00:${String(nth + 10)}Z` },
    ),
  );
}

describe('a box with more than fits into one call', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  /** Returns the IDs in each call that declares anything; a `-` marks a deletion. */
  function sent(): string[][] {
    const declaring = rig.calls.filter((lines) => lines.some((line) => 'resource' in line));
    return declaring.map((lines) => lines.map((line) => ('delete' in line ? `-${line.id}` : line.id)));
  }

  it('R-53 is applied in calls of about a megabyte, and in one pass while nobody else waits', async () => {
    const objects = largeClients(24);
    expect(await rig.pass(objects)).to.equal('done');
    expect(sent().map(({ length }) => length)).to.deep.equal([18, 6]);
    for (const lines of rig.calls) expect(JSON.stringify(lines).length).to.be.lessThan(PORTION * 1.25);
    for (const { key } of objects) expect(rig.condition(key)).to.equal('True/Ready');
  });

  it('R-53 is applied call by call while others wait, and says nothing of what was not sent', async () => {
    rig.isCrowded = true;
    const objects = largeClients(40);
    expect(await rig.pass(objects)).to.equal('more');
    expect([...rig.source.statuses.keys()]).to.deep.equal(objects.slice(0, 18).map(({ key }) => key));
    expect(await rig.pass(objects)).to.equal('more');
    expect(await rig.pass(objects)).to.equal('done');
    const names = objects.map(({ name }) => name);
    expect(sent()).to.deep.equal([names.slice(0, 18), names.slice(18, 36), names.slice(36)]);
    for (const { key } of objects) expect(rig.condition(key)).to.equal('True/Ready');
    expect(rig.source.published).to.equal(40);
    expect(await rig.pass(objects)).to.equal('done');
    expect(sent()).to.have.length(3);
  });

  it('R-53 passes an id on in one call, however much is sent beside it', async () => {
    const old = machineClient('old', { id: 'shared' });
    await rig.pass([old]);
    rig.calls.length = 0;
    rig.isCrowded = true;
    const taker = { ...machineClient('taker', { id: 'shared' }), created: '2027' };
    const objects = [...largeClients(19), taker];
    expect(await rig.pass(objects)).to.equal('more');
    expect(sent()[0]).to.have.length(18).and.not.include('-shared');
    expect(await rig.token('shared', rig.keeper.kept.get('old')?.value.reveal())).to.equal(200);
    expect(await rig.pass(objects)).to.equal('done');
    expect(sent()[1]).to.deep.equal(['-shared', 'large-18', 'shared']);
    expect(await rig.token('shared', rig.keeper.kept.get('taker')?.value.reveal())).to.equal(200);
  });

  it('R-53 sends the Box with the policy that its first admin would get, before all others', async () => {
    const box = declared('Box', 'box', {}, { created: '2028' });
    const policy = declared('AccessPolicy', 'admins', { engine: 'allow', link: [] }, { created: '2027' });
    await rig.pass([...largeClients(24), policy, box]);
    expect(sent()[0]?.slice(0, 3)).to.deep.equal(['admins', rig.box, 'large-0']);
  });

  it('R-53 sends the rest after a pass that failed', async () => {
    rig.isCrowded = true;
    const objects = largeClients(24);
    await rig.pass(objects);
    const real = { ...rig.source };
    rig.source.writeStatus = () => Promise.reject(new Error('the cluster is away'));
    await rig.pass([...objects, machineClient('new')]).catch(() => undefined);
    rig.source.writeStatus = (...status) => real.writeStatus(...status);
    expect(await rig.pass(objects, 'everything')).to.equal('done');
    for (const { key } of objects) expect(rig.condition(key)).to.equal('True/Ready');
  });
});

describe('boxes with much beside a small one', () => {
  it('R-53, R-29 answers a neighbour between two calls of boxes that are large', async () => {
    const api = await startApi();
    const real = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
    const source = memorySource();
    let changed: (box: string) => void = () => undefined;
    source.watch = (onChange) => void (changed = onChange);
    const order: string[] = [];
    const neighbour = { ...machineClient('app'), namespace: 'small' };
    const reconciler = startReconciler({
      ...plainOptions(api.url),
      source,
      keeper: memoryKeeper(),
      cluster: 'portions',
      events: recordedEvents(),
      onFailure: () => undefined,
      management: {
        ...real,
        async apply(call, signal) {
          const lines = [...call.lines];
          if (lines.some((line) => 'resource' in line)) order.push(call.box);
          // Both large boxes are at work: now the neighbour has something to apply.
          if (order.length === 2 && !order.includes('small')) {
            source.objects = [...source.objects, neighbour];
            changed('small');
          }
          return real.apply({ ...call, lines }, signal);
        },
      },
    });
    try {
      await reconciler.firstRound;
      source.objects = [...largeClients(60, 'large-a'), ...largeClients(60, 'large-b')];
      changed('large-a');
      changed('large-b');
      await eventually('all calls were made', () => order.length === 9);
      await reconciler.stop(10_000);
      expect(order.indexOf('small')).to.be.within(2, 4);
    } finally {
      await reconciler.stop();
      await api.stop();
    }
  });
});
