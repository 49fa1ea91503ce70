import { expect } from 'chai';
import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import type { Declared } from '../../../operator/desired/declared.ts';
import { startReconciler } from '../../../operator/reconcile/reconciler.ts';
import { startApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { declared, keyClient, machineClient } from '../declare.ts';
import { memoryKeeper, memorySource } from '../memory-source.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';
import { plainOptions } from '../reconciler-options.ts';
import { recordedEvents } from '../status/recorded-events.ts';

/** Clients that count as 32 KiB each, the oldest first: 32 of them are a call. */
function largeClients(count: number, namespace = 'default'): readonly Declared[] {
  return Array.from({ length: count }, (_, nth) =>
    declared('Client', `large-${String(nth)}`, keyClient, {
      namespace,
      length: 32_768,
      created: `2026-01-01T00:00:00.${String(nth).padStart(3, '0')}Z`,
    }),
  );
}

describe('a box with more than fits into one call', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));
  const sent = (): string[][] =>
    rig.calls
      .filter((lines) => lines.some((line) => 'resource' in line))
      .map((lines) => lines.map((line) => ('delete' in line ? `-${line.id}` : line.id)));

  it('is applied by a call in each pass, and says nothing before all of it is sent', async () => {
    const objects = largeClients(40);
    expect(await rig.pass(objects)).to.equal('more');
    expect(rig.source.statuses.size).to.equal(0);
    expect(await rig.pass(objects)).to.equal('done');
    const names = objects.map(({ name }) => name);
    expect(sent()).to.deep.equal([names.slice(0, 32), names.slice(32)]);
    for (const { key } of objects) expect(rig.condition(key)).to.equal('True/Ready');
    expect(rig.source.published).to.equal(40);
  });

  it('passes an id on in one call', async () => {
    await rig.pass([machineClient('old', { id: 'shared' })]);
    rig.calls.length = 0;
    const objects = [...largeClients(33), { ...machineClient('taker', { id: 'shared' }), created: '2027' }];
    expect(await rig.pass(objects)).to.equal('more');
    expect(await rig.token('shared', rig.keeper.kept.get('old')?.value.reveal())).to.equal(200);
    expect(await rig.pass(objects)).to.equal('done');
    expect(sent()[1]).to.deep.equal(['-shared', 'large-32', 'shared']);
    expect(await rig.token('shared', rig.keeper.kept.get('taker')?.value.reveal())).to.equal(200);
  });
});

describe('two large boxes beside a small one', () => {
  it('answer the neighbour between two calls', async () => {
    const api = await startApi();
    const real = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
    const source = memorySource();
    let changed: (box: string) => void = () => undefined;
    source.watch = (onChange) => void (changed = onChange);
    const order: string[] = [];
    const reconciler = startReconciler({
      ...plainOptions(api.url),
      source,
      keeper: memoryKeeper(),
      cluster: 'turns',
      events: recordedEvents(),
      onFailure: () => undefined,
      management: {
        ...real,
        async apply(call, signal) {
          const lines = [...call.lines];
          if (lines.some((line) => 'resource' in line)) order.push(call.box);
          // Both large boxes are at work: now the neighbour has something to apply.
          if (order.length === 2 && !order.includes('small')) {
            source.objects = [...source.objects, { ...machineClient('app'), namespace: 'small' }];
            changed('small');
          }
          return real.apply({ ...call, lines }, signal);
        },
      },
    });
    try {
      await reconciler.firstRound;
      source.objects = [...largeClients(150, 'large-a'), ...largeClients(150, 'large-b')];
      changed('large-a');
      changed('large-b');
      await eventually('all calls were made', () => order.length === 11);
      await reconciler.stop(10_000);
      // It comes next; until it has prepared its call, the others may make one or two more.
      expect(order.indexOf('small')).to.be.within(2, 7);
    } finally {
      await reconciler.stop();
      await api.stop();
    }
  });
});
