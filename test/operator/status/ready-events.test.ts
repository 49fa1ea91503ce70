import { expect } from 'chai';
import type { ObjectStatus } from '../../../operator/status/object-status.ts';
import type { Reason } from '../../../operator/status/reasons.ts';
import { recordReadiness } from '../../../operator/status/status.ts';
import { createOperatorMetrics } from '../../../operator/metrics.ts';
import { allowPolicy, declared, edited, machineClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

describe('R-56 an object that ceases to be Ready', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  const said = () =>
    rig.events.recorded
      .splice(0)
      .map(({ object, type, reason, message }) => [type, reason, `${object.kind}/${object.name}`, message]);

  const app = machineClient('app');
  const twin = { ...machineClient('twin', { id: 'app' }), created: '2' };
  const waiting = machineClient('waiting', { secretRef: { name: 'nowhere', key: 'client_secret' } });
  const faulty = declared('Client', 'faulty', { grant_types: ['none'] });

  it('has a Warning with the reason and the message of its condition, once, also when it is new', async () => {
    await rig.pass([app, twin, waiting, faulty, allowPolicy('p', 'app')]);
    const ready = (name: string) =>
      rig.source.statuses.get(`Client/${name}`)?.conditions.find(({ type }) => type === 'Ready')?.message;
    expect(said()).to.have.deep.members([
      ['Warning', 'DeclaredTwice', 'Client/twin', ready('twin')],
      ['Warning', 'SecretNotFound', 'Client/waiting', ready('waiting')],
      ['Warning', 'Invalid', 'Client/faulty', ready('faulty')],
    ]);
    await rig.pass([app, twin, waiting, faulty, allowPolicy('p', 'app')], 'everything');
    expect(said()).to.deep.equal([]);
  });

  it('has another one for another reason, and a Normal event when it is Ready again', async () => {
    await rig.pass([waiting]);
    expect(said()).to.have.length(1);
    await rig.pass([edited(waiting, { grant_types: ['none'] })]);
    expect(said().map(([type, reason]) => `${String(type)} ${String(reason)}`)).to.deep.equal(['Warning Invalid']);
    await rig.pass([edited(waiting, { grant_types: ['client_credentials'] })]);
    expect(said()).to.deep.equal([['Normal', 'Ready', 'Client/waiting', 'It is Ready again, after Invalid']]);
    await rig.pass([edited(waiting, { grant_types: ['client_credentials'], suspend: true })]);
    expect(said()).to.deep.equal([]);
  });

  it('has one with OwnedByAnother', async () => {
    await rig.api.declare(rig.box, [{ kind: 'Client', id: 'app', grant_types: ['client_credentials'], secret: 'x' }]);
    await rig.pass([app]);
    expect(said().map(([, reason]) => reason)).to.deep.equal(['OwnedByAnother']);
  });

  it('has none for what passes by itself: an outage has one event for all objects', async () => {
    // E-30: 140 Warnings on a first apply, and one for each Box in each outage.
    await rig.pass([app]);
    const ready = rig.source.statuses.get('Client/app');
    const because = (reason: Reason): ObjectStatus => {
      if (ready === undefined) throw new Error('no status');
      const held = { status: 'False', reason, message: 'why' } as const;
      return {
        ...ready,
        conditions: ready.conditions.map((one) => (one.type === 'Ready' ? { ...one, ...held } : one)),
      };
    };
    for (const reason of ['SecretNotRead', 'Unavailable', 'Waiting'] as const) {
      recordReadiness(undefined, because(reason), rig.events);
      recordReadiness(ready, because(reason), rig.events);
      recordReadiness(because(reason), because('SecretNotFound'), rig.events);
      expect(said(), reason).to.deep.equal([['Warning', 'SecretNotFound', 'Client/app', 'why']]);
    }
    await rig.pass([app], 'everything');
    expect(said()).to.deep.equal([]);
  });

  it('is counted by kind, condition and status', async () => {
    await rig.pass([app, waiting, faulty, allowPolicy('p', 'app')]);
    const metrics = createOperatorMetrics({ leads: () => true, now: () => 0 });
    metrics.passes.measure(
      () => 0,
      () => [rig.cache],
    );
    const objects = async () =>
      [...(await metrics.page()).text.matchAll(/^boxgate_operator_objects\{(.*)\} (\d+)$/gm)].map(
        ([, labels, count]) => `${String(labels)} ${String(count)}`,
      );
    expect(await objects()).to.include.members([
      'kind="Client",condition="Ready",status="True" 1',
      'kind="Client",condition="Ready",status="False" 2',
      'kind="Client",condition="Valid",status="False" 1',
      'kind="AccessPolicy",condition="Ready",status="True" 1',
    ]);
    await rig.pass([app]);
    expect(await objects()).to.include('kind="Client",condition="Ready",status="True" 1');
    expect((await objects()).join())
      .not.to.contain('Ready",status="False"')
      .and.not.to.contain('AccessPolicy');
  });
});
