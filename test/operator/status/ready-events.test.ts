import { expect } from 'chai';
import { countConditions } from '../../../operator/status/condition-counts.ts';
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

  it('is counted by kind, condition and status', async () => {
    await rig.pass([app, waiting, faulty, allowPolicy('p', 'app')]);
    const metrics = createOperatorMetrics(
      () => true,
      () => 0,
    );
    metrics.passes.measure(
      () => 0,
      () => ({ missing: 0, rows: 0 }),
      () => countConditions([rig.cache]),
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
